#pragma once

// What eager PyTorch computed with exported models (tests/program/python_models.py).

#include <pagoda/program/exported_model.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "checkpoint/pickle_file.h"
#include "support/scratch_directory.h"

namespace pagoda::testing {

/// The tensors of one file, by name.
class PythonReference {
 public:
  explicit PythonReference(const std::filesystem::path& file) {
    const PickleValue value = read_pickle(file);
    for (const auto& [key, entry] : *value.as<PickleValue::Dict>())
      tensors_[key] = *entry.as<at::Tensor>();
  }

  bool has(const std::string& name) const { return tensors_.count(name) != 0; }
  const at::Tensor& at(const std::string& name) const { return tensors_.at(name); }

  /// Those whose names begin with `prefix` and a slash, without that.
  std::map<std::string, at::Tensor> under(const std::string& prefix) const {
    std::map<std::string, at::Tensor> found;
    for (const auto& [name, tensor] : tensors_) {
      if (name.starts_with(prefix + "/")) found[name.substr(prefix.size() + 1)] = tensor;
    }
    return found;
  }

 private:
  std::map<std::string, at::Tensor> tensors_;
};

/// The files of small_models.py, written once for the test program; empty without a Python that has
/// torch.
inline const std::filesystem::path& small_models() {
  static const ScratchDirectory scratch;
  static const std::filesystem::path written = [] {
    const char* python = std::getenv("PAGODA_TEST_PYTHON");
    if (python == nullptr) return std::filesystem::path();
    const std::string script = PAGODA_SMALL_MODELS;
    const int status = std::system(
        (std::string(python) + " -B " + script + " " + scratch.path().string() + " 2>&1").c_str());
    return status == 0 ? scratch.path() : std::filesystem::path();
  }();
  return written;
}

/// The models of a folder, by name.
inline std::vector<std::string> model_names(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    const std::string suffix = ".reference.pt";
    if (name.ends_with(suffix)) names.push_back(name.substr(0, name.size() - suffix.size()));
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace pagoda::testing
