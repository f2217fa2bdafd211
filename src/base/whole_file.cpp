#include <pagoda/base/error.h>
#include <pagoda/base/whole_file.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace pagoda {
namespace {

[[noreturn]] void fail_to_read(const std::filesystem::path& path) {
  throw IoError("cannot read " + path.string() + ": " + std::strerror(errno));
}

std::unique_ptr<std::FILE, decltype(&std::fclose)> opened_file(const std::filesystem::path& path) {
  std::unique_ptr<std::FILE, decltype(&std::fclose)> file(std::fopen(path.c_str(), "rb"),
                                                          &std::fclose);
  if (!file) fail_to_read(path);
  return file;
}

}  // namespace

std::vector<char> read_bytes(const std::filesystem::path& path) {
  const auto file = opened_file(path);
  std::error_code unknown;  // a pipe has no size
  const auto size = std::filesystem::file_size(path, unknown);
  std::vector<char> bytes(unknown ? 0 : size);
  std::size_t filled = std::fread(bytes.data(), 1, bytes.size(), file.get());
  for (char more[64 * 1024]; filled == bytes.size();) {
    const std::size_t got = std::fread(more, 1, sizeof more, file.get());
    if (got == 0) break;
    bytes.insert(bytes.end(), more, more + got);
    filled += got;
  }
  if (std::ferror(file.get())) fail_to_read(path);
  bytes.resize(filled);
  return bytes;
}

std::string read_whole_file(const std::filesystem::path& path) {
  const std::vector<char> bytes = read_bytes(path);
  return {bytes.begin(), bytes.end()};
}

std::string read_file_start(const std::filesystem::path& path, std::size_t most) {
  const auto file = opened_file(path);
  std::string text(most, '\0');
  text.resize(std::fread(text.data(), 1, most, file.get()));
  if (std::ferror(file.get())) fail_to_read(path);
  return text;
}

}  // namespace pagoda
