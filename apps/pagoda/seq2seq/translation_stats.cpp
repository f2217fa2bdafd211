#include "seq2seq/translation_stats.h"

#include <pagoda/base/grouped_number.h>

#include <algorithm>
#include <sstream>

namespace pagoda::app {
namespace {

std::int64_t words_of(const std::string& line) {
  std::istringstream words(line);
  std::int64_t count = 0;
  for (std::string word; words >> word;) ++count;
  return count;
}

}  // namespace

void TranslationStats::add(const std::vector<std::string>& sources,
                           const std::vector<std::vector<Translation>>& translations,
                           double seconds_taken) {
  seconds += seconds_taken;
  sentences += static_cast<std::int64_t>(sources.size());
  for (const auto& source : sources) words += words_of(source);
  for (const auto& one : translations)
    tokens += static_cast<std::int64_t>(one.front().tokens.size());
}

std::string TranslationStats::text() const {
  const auto rate = [&](std::int64_t count) {
    const double per_second = seconds > 0 ? static_cast<double>(count) / seconds : 0;
    return grouped(per_second, per_second < 100 ? 1 : 0) + " ";
  };
  return "start-up " + grouped(start_seconds, 2) + " s; " +
         grouped(static_cast<double>(sentences)) + " sentences in " + grouped(seconds, 2) +
         " s: " + rate(sentences) + "sentences/s, " + rate(tokens) + "tokens/s, " + rate(words) +
         "words/s";
}

}  // namespace pagoda::app
