#include "seq2seq/translation_stats.h"

#include <gtest/gtest.h>

namespace pagoda::app {
namespace translation_stats_test {

TEST(TranslationStatsTest, CountWordsOfSourcesAndTokensOfTheBestTranslations) {
  TranslationStats stats{.start_seconds = 1.25};
  const Translation best{.text = "x y", .tokens = {"x", "y", "z"}};
  const Translation other{.text = "x", .tokens = {"x"}};
  stats.add({" a  b c", ""}, {{best, other}, {{}}}, 0.5);
  stats.add({"a"}, {{other}}, 1.5);
  EXPECT_EQ(stats.text(),
            "start-up 1.25 s; 3 sentences in 2.00 s: 1.5 sentences/s, 2.0 tokens/s, 2.0 words/s");
}

TEST(TranslationStatsTest, OfNothingAreZero) {
  EXPECT_EQ(TranslationStats{}.text(),
            "start-up 0.00 s; 0 sentences in 0.00 s: 0.0 sentences/s, 0.0 tokens/s, 0.0 words/s");
}

}  // namespace translation_stats_test
}  // namespace pagoda::app
