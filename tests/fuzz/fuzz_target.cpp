#include "fuzz/fuzz_target.h"

#include <pagoda/base/temporary_directory.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <memory>
#include <unistd.h>

namespace pagoda::fuzz {
namespace {

std::vector<Target>& registered() {
  static std::vector<Target> targets;
  return targets;
}

/// In memory where that can be, unless TMPDIR says otherwise: many files are written and synced.
void prefer_memory() {
  constexpr const char* kMemory = "/dev/shm";
  if (access(kMemory, W_OK | X_OK) == 0) setenv("TMPDIR", kMemory, /*overwrite=*/0);
}

const std::filesystem::path& directory() {
  static const auto kept = [] {
    prefer_memory();
    return std::make_unique<TemporaryDirectory>("fuzz");
  }();
  return kept->path();
}

}  // namespace

const std::vector<Target>& targets() { return registered(); }

Registration::Registration(const Target& target) {
  auto& all = registered();
  const auto by_name = [](const Target& a, const Target& b) {
    return std::string_view(a.name) < b.name;
  };
  all.insert(std::upper_bound(all.begin(), all.end(), target, by_name), target);
}

std::filesystem::path input_file(std::string_view bytes, std::string_view name) {
  const auto path = directory() / name;
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const bool is_written =
      file >= 0 && write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size());
  if (file >= 0) close(file);
  require(is_written, "the input could not be written into the temporary directory");
  return path;
}

std::vector<std::string_view> parts_of(std::string_view bytes, std::size_t count) {
  constexpr std::string_view kCut = "%%\n";
  std::vector<std::string_view> parts(count);
  for (std::size_t i = 0; i + 1 < count; ++i) {
    const std::size_t end = std::min(bytes.find(kCut), bytes.size());
    parts[i] = bytes.substr(0, end);
    bytes.remove_prefix(std::min(end + kCut.size(), bytes.size()));
  }
  parts.back() = bytes;
  return parts;
}

void require(bool is_true, const char* sentence) {
  if (is_true) return;
  std::fprintf(stderr, "fuzz: %s\n", sentence);
  std::abort();
}

}  // namespace pagoda::fuzz
