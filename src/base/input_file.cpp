#include "base/input_file.h"

#include <pagoda/base/error.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <string>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <utility>

#include "base/descriptor.h"

namespace pagoda {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kBetweenLooks{50};  // poll does not tell of a writer who is still silent

/// Whether it has bytes, an end or a writer. Takes nothing out of it.
bool is_answered(int pipe) {
  pollfd looked{.fd = pipe, .events = POLLIN, .revents = 0};
  const int milliseconds = static_cast<int>(kBetweenLooks.count());
  if (poll(&looked, 1, milliseconds) > 0) return true;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return false;
  const ssize_t copied = tee(pipe, ends[1], 1, SPLICE_F_NONBLOCK);
  close(ends[0]);
  close(ends[1]);
  return copied != 0;  // 0 is its word for "no writer"
}

bool await_writer(int pipe, milliseconds patience) {
  const auto deadline = steady_clock::now() + patience;
  while (!is_answered(pipe)) {
    if (steady_clock::now() >= deadline) return false;
  }
  return true;
}

/// What it is that cannot be read to an end; empty for what can.
std::string endless_kind(int descriptor, const struct stat& found) {
  if (S_ISDIR(found.st_mode)) return "a directory";
  if (S_ISBLK(found.st_mode)) return "a device";
  const bool is_null = found.st_rdev == makedev(1, 3);
  if (S_ISCHR(found.st_mode) && !is_null && isatty(descriptor) == 0) return "a device";
  return "";
}

/// What speaks against reading it; empty when nothing does.
std::string objection(int descriptor, milliseconds patience) {
  struct stat found {};
  if (fstat(descriptor, &found) != 0) return std::strerror(errno);
  if (const std::string kind = endless_kind(descriptor, found); !kind.empty())
    return "it is " + kind + "; take a regular file or a pipe";
  if (S_ISFIFO(found.st_mode) && !await_writer(descriptor, patience)) {
    return "nobody has opened this pipe for writing in " +
           std::to_string(std::max<std::int64_t>(1, patience.count() / 1000)) +
           " s; start its writer first";
  }
  // Opened without waiting; from here on reads wait.
  if (fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK) != 0)
    return std::strerror(errno);
  return "";
}

}  // namespace

InputFile::InputFile(std::filesystem::path path, int descriptor)
    : path_(std::move(path)), descriptor_(descriptor) {
  if (descriptor_ < 0) throw_io_error("read", path_);
}

InputFile::InputFile(std::filesystem::path path, milliseconds patience)
    : InputFile(path, open_descriptor(path, O_RDONLY | O_NONBLOCK | O_NOCTTY)) {
  const std::string why = objection(descriptor_, patience);
  if (!why.empty()) throw IoError("cannot read " + path_.string() + ": " + why);
}

InputFile InputFile::standard_input() {
  return {"the standard input", fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)};
}

InputFile::~InputFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

InputFile::InputFile(InputFile&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

std::size_t InputFile::read(std::span<char> bytes) {
  const ssize_t count = read_some(descriptor_, bytes.data(), bytes.size());
  if (count < 0) throw_io_error("read", path_);
  return static_cast<std::size_t>(count);
}

bool InputFile::is_ready() const {
  pollfd looked{.fd = descriptor_, .events = POLLIN, .revents = 0};
  return poll(&looked, 1, 0) > 0;
}

std::optional<std::uintmax_t> InputFile::size() const {
  struct stat found {};
  if (fstat(descriptor_, &found) != 0 || !S_ISREG(found.st_mode)) return std::nullopt;
  return static_cast<std::uintmax_t>(found.st_size);
}

}  // namespace pagoda
