#include <pagoda/base/error.h>
#include <pagoda/base/utf8.h>
#include <pagoda/text/line_reader.h>

#include <cerrno>
#include <cstring>
#include <unistd.h>
#include <utility>
#include <vector>

#include <zlib.h>

namespace pagoda {
namespace {

constexpr std::size_t kBufferBytes = 1 << 16;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

std::string hexadecimal(char byte) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  const auto value = static_cast<unsigned char>(byte);
  return {'0', 'x', kDigits[value >> 4], kDigits[value & 15]};
}

}  // namespace

struct LineReader::File {
  gzFile handle;
  std::vector<char> buffer = std::vector<char>(kBufferBytes);
  std::size_t begin = 0;  // of what is not used yet
  std::size_t end = 0;
  DataInput input = {};   // what came before the buffer
  std::string line = {};  // the current one

  std::string_view used() const { return {buffer.data(), begin}; }

  ~File() { gzclose(handle); }
};

LineReader::LineReader(std::filesystem::path path, const LineReaderOptions& options)
    : path_(std::move(path)), options_(options) {
  errno = 0;
  gzFile handle = path_ == "-" ? gzdopen(dup(STDIN_FILENO), "rb") : gzopen(path_.c_str(), "rb");
  if (handle == nullptr) {
    throw IoError("cannot open " + path_.string() + ": " + std::strerror(errno));
  }
  file_.reset(new File{handle});
}

LineReader::~LineReader() = default;
LineReader::LineReader(LineReader&&) noexcept = default;
LineReader& LineReader::operator=(LineReader&&) noexcept = default;

/// Reads on when the buffer is used up; false at the end of the file.
bool LineReader::fill() {
  if (file_->begin < file_->end) return true;
  add_content(file_->input, file_->used());
  file_->begin = file_->end = 0;
  const int count = gzread(file_->handle, file_->buffer.data(), kBufferBytes);
  int code = Z_OK;
  const char* message = gzerror(file_->handle, &code);
  if (code == Z_ERRNO) {
    throw IoError("cannot read " + path_.string() + " after line " + std::to_string(number_) +
                  ": " + std::strerror(errno));
  }
  if (count < 0 || code != Z_OK) {
    throw DataError(path_.string() + " is cut or damaged after line " + std::to_string(number_) +
                    " (" + message + "); fetch it again");
  }
  file_->end = static_cast<std::size_t>(count);
  return count > 0;
}

std::optional<Line> LineReader::next() {
  std::string& line = file_->line;
  line.clear();
  bool too_long = false;
  bool ended = false;
  bool any = false;
  while (!ended && fill()) {
    any = true;
    const char* from = file_->buffer.data() + file_->begin;
    const std::size_t rest = file_->end - file_->begin;
    const auto* newline = static_cast<const char*>(std::memchr(from, '\n', rest));
    const std::size_t length = newline ? static_cast<std::size_t>(newline - from) : rest;
    // One more byte than allowed may be the CR of the line's end.
    too_long = too_long || line.size() + length > options_.max_bytes + 1;
    if (!too_long) line.append(from, length);
    ended = newline != nullptr;
    file_->begin += length + (ended ? 1 : 0);
  }
  if (!any) return std::nullopt;
  ++number_;
  if (!line.empty() && line.back() == '\r') line.pop_back();
  if (number_ == 1 && line.starts_with(kByteOrderMark)) line.erase(0, kByteOrderMark.size());
  if (too_long || line.size() > options_.max_bytes) {
    return Line{
        {}, number_, "more than " + std::to_string(options_.max_bytes) + " bytes in a line"};
  }
  if (const auto bad = find_bad_utf8(line)) {
    return Line{{},
                number_,
                "not UTF-8: byte " + std::to_string(*bad + 1) + " of the line is " +
                    hexadecimal(line[*bad])};
  }
  return Line{line, number_, {}};
}

std::int64_t LineReader::bytes_read() const { return gzoffset(file_->handle); }

DataInput LineReader::input() const {
  DataInput input = file_->input;
  input.name = path_.string();
  add_content(input, file_->used());
  return input;
}

std::string LineReader::place_of(const Line& line) const {
  return path_.string() + ":" + std::to_string(line.number) + ": " + line.problem;
}

}  // namespace pagoda
