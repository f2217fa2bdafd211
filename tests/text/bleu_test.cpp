#include <pagoda/text/bleu.h>

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace pagoda {
namespace bleu_test {

struct TokenCase {
  std::string line;
  std::vector<std::string> tokens;
};

struct CorpusCase {
  std::string name;
  std::vector<std::string> translations;
  std::vector<std::string> references;
  double score;
  std::array<double, 4> precisions;
  double brevity_penalty;
};

#include "sacrebleu_reference.inc"

TEST(BleuTest, TokensAreThoseOfSacreBleu) {
  for (const auto& [line, tokens] : kTokenCases) EXPECT_EQ(bleu_tokens(line), tokens) << line;
}

TEST(BleuTest, NumbersAreThoseOfSacreBleu) {
  for (const auto& one : kCorpusCases) {
    SCOPED_TRACE(one.name);
    Bleu bleu;
    for (std::size_t i = 0; i < one.translations.size(); ++i) {
      bleu.add(one.translations[i], one.references[i]);
    }
    EXPECT_NEAR(bleu.score(), one.score, 1e-6);
    EXPECT_NEAR(bleu.brevity_penalty(), one.brevity_penalty, 1e-8);
    for (std::size_t n = 0; n < 4; ++n) EXPECT_NEAR(bleu.precisions()[n], one.precisions[n], 1e-6);
  }
}

TEST(BleuTest, PartsAddUp) {
  const auto& corpus = kCorpusCases.back();
  Bleu whole;
  Bleu parts[2];
  for (std::size_t i = 0; i < corpus.translations.size(); ++i) {
    whole.add(corpus.translations[i], corpus.references[i]);
    parts[i % 2].add(corpus.translations[i], corpus.references[i]);
  }
  parts[0].add(parts[1]);
  EXPECT_EQ(parts[0].score(), whole.score());
  EXPECT_EQ(Bleu().score(), 0);
}

}  // namespace bleu_test
}  // namespace pagoda
