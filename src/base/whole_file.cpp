#include <pagoda/base/byte_size.h>
#include <pagoda/base/error.h>
#include <pagoda/base/whole_file.h>

#include <algorithm>
#include <span>
#include <system_error>

#include "base/input_file.h"

namespace pagoda {
namespace {

constexpr std::size_t kMostOfPipe = std::size_t{1}
                                    << 30;  // one that never ends must not fill memory
constexpr std::size_t kPart = 64 * 1024;

}  // namespace

std::vector<char> read_bytes(const std::filesystem::path& path) {
  InputFile file(path);
  const auto size = file.size();
  std::vector<char> bytes(size.value_or(0) + 1);  // the one more shows the end
  std::size_t filled = 0;
  for (std::size_t count = 1; count > 0; filled += count) {
    if (filled == bytes.size()) bytes.resize(filled + std::max(filled, kPart));
    if (!size && filled > kMostOfPipe) {
      throw IoError("cannot read " + path.string() + ": the pipe gives more than " +
                    bytes_text(kMostOfPipe) + "; write it to a file first");
    }
    count = file.read(std::span(bytes).subspan(filled));
  }
  bytes.resize(filled);
  return bytes;
}

std::string read_whole_file(const std::filesystem::path& path) {
  const std::vector<char> bytes = read_bytes(path);
  return {bytes.begin(), bytes.end()};
}

std::optional<std::string> read_file_if_any(const std::filesystem::path& path) {
  std::error_code error;  // none where the file is missing
  const bool exists = std::filesystem::exists(path, error);
  if (error) throw IoError("cannot look for " + path.string() + ": " + error.message());
  return exists ? std::optional(read_whole_file(path)) : std::nullopt;
}

std::string read_file_start(const std::filesystem::path& path, std::size_t most) {
  InputFile file(path);
  std::string text;
  std::vector<char> part(std::min(most, kPart));
  for (std::size_t count = 1; count > 0 && text.size() < most;) {
    count = file.read(std::span(part).first(std::min(part.size(), most - text.size())));
    text.append(part.data(), count);
  }
  return text;
}

}  // namespace pagoda
