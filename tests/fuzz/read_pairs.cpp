#include "fuzz/read_pairs.h"

#include <pagoda/base/error.h>
#include <pagoda/base/utf8.h>

#include "fuzz/fuzz_target.h"

namespace pagoda::fuzz {
namespace {

std::string pairs_of(PairReader& reader) {
  std::string text;
  std::int64_t count = 0;
  for (; const auto pair = reader.next(); ++count) {
    for (const std::string_view side : {pair->source, pair->target}) {
      require(!find_bad_utf8(side), "a side is not UTF-8");
      require(side.find('\n') == std::string_view::npos, "a side has a newline in it");
      require(side.find_first_not_of(" \t") != std::string_view::npos, "a side is empty");
      text += std::string(side) + "\n";
    }
  }
  require(reader.bytes_read() >= 0, "a negative number of bytes was read");
  require(reader.report().pairs == count, "the report counts other pairs than were read");
  return text;
}

}  // namespace

std::string read_pairs(const PairFiles& files) {
  const PairReaderOptions skip{.on_bad_line = OnBadLine::skip, .lines = {.max_bytes = 64}};
  const auto skipping = open_pairs(files, skip);
  const std::string text = pairs_of(*skipping);
  const PairReport& report = skipping->report();
  require(!report.text().empty(), "the report says nothing");
  require(report.bad == 0 || !report.notes.empty(), "a bad line was skipped without a note");

  PairReaderOptions strict = skip;
  strict.on_bad_line = OnBadLine::error;
  bool is_refused = false;
  try {
    const std::string same = pairs_of(*open_pairs(files, strict));
    require(same == text, "without bad lines, both rules read the same");
  } catch (const DataError&) {
    is_refused = true;
  }
  require(is_refused == !report.notes.empty(),
          "what is noted with one rule is refused with the other");
  return text;
}

}  // namespace pagoda::fuzz
