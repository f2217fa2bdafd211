#include <pagoda/base/utf8.h>
#include <pagoda/text/line_reader.h>

#include "fuzz/fuzz_target.h"

namespace pagoda::fuzz {
namespace lines_fuzz {

std::string lines_of(const std::filesystem::path& file, const LineReaderOptions& options) {
  LineReader reader(file, options);
  std::string text;
  for (std::int64_t number = 1; const auto line = reader.next(); ++number) {
    require(line->number == number, "a line's number is not one more than that before it");
    require(line->text.size() <= options.max_bytes, "a line is longer than allowed");
    require(line->text.find('\n') == std::string_view::npos, "a line has a newline in it");
    require(!find_bad_utf8(line->text), "a line is not UTF-8");
    require(line->problem.empty() || line->text.empty(), "a line that cannot be used has a text");
    text += std::string(line->text) + line->problem + "\n";
    require(reader.place_of(*line).find(file.string()) == 0, "a place does not name the file");
  }
  require(reader.bytes_read() >= 0, "a negative number of bytes was read");
  return text;
}

/// Plain text and gzip alike: the reader looks at the file's start.
std::string read(std::string_view bytes) {
  const auto file = input_file(bytes);
  return lines_of(file, {.max_bytes = 16}) + lines_of(file, {});
}

const Registration registration{{"lines", &read}};

}  // namespace lines_fuzz
}  // namespace pagoda::fuzz
