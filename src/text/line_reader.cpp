#include <pagoda/base/byte_size.h>
#include <pagoda/base/error.h>
#include <pagoda/base/utf8.h>
#include <pagoda/text/line_reader.h>

#include <cstring>
#include <utility>
#include <vector>

#include "text/unpacked_file.h"

namespace pagoda {
namespace {

constexpr std::size_t kBufferBytes = 1 << 16;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

std::string hexadecimal(char byte) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  const auto value = static_cast<unsigned char>(byte);
  return {'0', 'x', kDigits[value >> 4], kDigits[value & 15]};
}

/// Why this line is no text; empty if it is one.
std::string problem_of(const std::string& line) {
  if (const auto nul = line.find('\0'); nul != std::string::npos) {
    return "byte " + std::to_string(nul + 1) + " of the line is NUL, which text does not contain";
  }
  if (const auto bad = find_bad_utf8(line)) {
    return "not UTF-8: byte " + std::to_string(*bad + 1) + " of the line is " +
           hexadecimal(line[*bad]);
  }
  return "";
}

}  // namespace

struct LineReader::File {
  UnpackedFile bytes;
  std::vector<char> buffer = std::vector<char>(kBufferBytes);
  std::size_t begin = 0;  // of what is not used yet
  std::size_t end = 0;
  DataInput input = {};   // what came before the buffer
  std::string line = {};  // the current one

  std::string_view used() const { return {buffer.data(), begin}; }
};

LineReader::LineReader(std::filesystem::path path, const LineReaderOptions& options)
    : path_(std::move(path)),
      options_(options),
      file_(new File{UnpackedFile(path_ == "-" ? InputFile::standard_input() : InputFile(path_))}) {
}

LineReader::~LineReader() = default;
LineReader::LineReader(LineReader&&) noexcept = default;
LineReader& LineReader::operator=(LineReader&&) noexcept = default;

/// Reads on when the buffer is used up; false at the end of the file.
bool LineReader::fill() {
  if (file_->begin < file_->end) return true;
  add_content(file_->input, file_->used());
  file_->begin = 0;
  file_->end = file_->bytes.read(file_->buffer);
  return file_->end > 0;
}

std::optional<Line> LineReader::next() {
  std::string& line = file_->line;
  line.clear();
  std::size_t bytes = 0;
  bool ended = false;
  bool any = false;
  while (!ended && fill()) {
    any = true;
    const char* from = file_->buffer.data() + file_->begin;
    const std::size_t rest = file_->end - file_->begin;
    const auto* newline = static_cast<const char*>(std::memchr(from, '\n', rest));
    const std::size_t length = newline ? static_cast<std::size_t>(newline - from) : rest;
    bytes += length;
    // One more byte than allowed may be the CR of the line's end.
    if (bytes <= options_.max_bytes + 1) line.append(from, length);
    if (bytes > options_.max_skipped_bytes) {
      const auto most = bytes_text(static_cast<std::int64_t>(options_.max_skipped_bytes));
      throw DataError(place_of({{}, number_ + 1, "no line end in " + most + "; is it text?"}));
    }
    ended = newline != nullptr;
    file_->begin += length + (ended ? 1 : 0);
  }
  if (!any) return std::nullopt;
  ++number_;
  if (!line.empty() && line.back() == '\r') line.pop_back();
  if (number_ == 1 && line.starts_with(kByteOrderMark)) line.erase(0, kByteOrderMark.size());
  if (bytes > options_.max_bytes + 1 || line.size() > options_.max_bytes) {
    return Line{
        {}, number_, "more than " + std::to_string(options_.max_bytes) + " bytes in a line"};
  }
  if (std::string problem = problem_of(line); !problem.empty())
    return Line{{}, number_, std::move(problem)};
  return Line{line, number_, {}};
}

bool LineReader::is_ready() const {
  const char* from = file_->buffer.data() + file_->begin;
  return std::memchr(from, '\n', file_->end - file_->begin) != nullptr || file_->bytes.is_ready();
}

std::int64_t LineReader::bytes_read() const { return file_->bytes.bytes_read(); }

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
