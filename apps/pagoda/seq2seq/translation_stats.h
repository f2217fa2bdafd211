#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "seq2seq/translator.h"

namespace pagoda::app {

/// How much was translated, and how fast.
struct TranslationStats {
  double start_seconds = 0;  ///< until the first line could be taken
  double seconds = 0;        ///< of translating
  std::int64_t sentences = 0;
  std::int64_t tokens = 0;  ///< of the best translations
  std::int64_t words = 0;   ///< of the sources, as spaces divide them

  void add(const std::vector<std::string>& sources,
           const std::vector<std::vector<Translation>>& translations, double seconds_taken);

  /// "start-up 1.25 s; 1,000 sentences in 2.00 s: 500 sentences/s, 6,000 tokens/s, 5,000 words/s"
  std::string text() const;
};

}  // namespace pagoda::app
