#pragma once

// Scripts for the Python that PAGODA_TEST_PYTHON names; it may have torch, and may be missing.

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <sys/wait.h>

#include "support/scratch_directory.h"

namespace pagoda::testing {

/// The exit code of the script, which may import torch, with the path as its only argument; nullopt
/// where there is no such Python or it has no torch.
inline std::optional<int> run_with_torch(const ScratchDirectory& scratch, const std::string& script,
                                         const std::filesystem::path& argument) {
  constexpr int kNoTorch = 77;
  const char* python = std::getenv("PAGODA_TEST_PYTHON");
  if (python == nullptr) return std::nullopt;
  write_file(scratch / "script.py",
             "import importlib.util, sys\n"
             "if importlib.util.find_spec('torch') is None: sys.exit(77)\n" +
                 script);
  const int status = std::system(
      (std::string(python) + " -B " + (scratch / "script.py").string() + " " + argument.string())
          .c_str());
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return code == kNoTorch ? std::nullopt : std::optional(code);
}

}  // namespace pagoda::testing
