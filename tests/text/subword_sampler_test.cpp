#include <pagoda/base/error.h>
#include <pagoda/text/builtin_pairs.h>
#include <pagoda/text/sentencepiece_training.h>
#include <pagoda/text/subword_sampler.h>
#include <pagoda/text/text_codec.h>
#include <pagoda/text/tokenizer.h>

#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include "support/scratch_directory.h"

namespace pagoda {
namespace subword_sampler_test {

using testing::ScratchDirectory;
using Cut = std::vector<TokenId>;

class SubwordSamplerTest : public ::testing::Test {
 protected:
  SubwordSamplerTest() {
    const auto pairs = open_builtin_pairs(BuiltinSplit::train, 2000);
    train_sentencepiece(*pairs, PairSide::both, model(),
                        {.vocab_size = 150, .character_coverage = 1});
    codec_.emplace(make_sentencepiece_tokenizer(model()), sentencepiece_vocabulary(model()));
  }

  std::filesystem::path model() const { return directory_ / "m"; }
  const TextCodec& codec() const { return *codec_; }

  /// How often each cut of a line comes.
  std::map<Cut, int> counts(const std::string& line, double alpha, int draws) const {
    const SubwordSampler sampler(model(), alpha);
    const Cut tokens = codec().encode(line);
    std::map<Cut, int> found;
    for (int seed = 0; seed < draws; ++seed)
      ++found[sampler(tokens, static_cast<std::uint64_t>(seed))];
    return found;
  }

  /// In how many ways a text can be put together from tokens, at most `most` of them.
  int ways(std::string_view text, std::size_t most) const {
    if (text.empty()) return 1;
    if (most == 0) return 0;
    int count = 0;
    for (std::size_t size = 1; size <= text.size(); ++size) {
      if (codec().vocabulary().id(text.substr(0, size)) != kUnknown) {
        count += ways(text.substr(size), most - 1);
      }
    }
    return count;
  }

 private:
  ScratchDirectory directory_;
  std::optional<TextCodec> codec_;
};

TEST_F(SubwordSamplerTest, DrawsTheSameTextInOtherTokens) {
  const SubwordSampler sampler(model(), 0.2);
  const auto pairs = open_builtin_pairs(BuiltinSplit::test, 100);
  int others = 0;
  for (std::uint64_t seed = 0; const auto pair = pairs->next(); ++seed) {
    const Cut tokens = codec().encode(pair->target);
    const Cut drawn = sampler(tokens, seed);
    EXPECT_EQ(codec().decode(drawn), pair->target);
    EXPECT_EQ(drawn, sampler(tokens, seed));
    EXPECT_LE(drawn.size(), 2 * tokens.size());
    EXPECT_EQ(codec().decode(sampler(drawn, seed)), pair->target)
        << "also of tokens that were drawn";
    others += drawn != tokens;
  }
  EXPECT_GT(others, 30);
}

TEST_F(SubwordSamplerTest, AHighPowerGivesTheModelsOwnCut) {
  const SubwordSampler unlikely(model(), 0.05);
  const SubwordSampler best(model(), 200);
  const auto pairs = open_builtin_pairs(BuiltinSplit::test, 100);
  for (std::uint64_t seed = 0; const auto pair = pairs->next(); ++seed) {
    const Cut tokens = codec().encode(pair->source);
    EXPECT_EQ(best(unlikely(tokens, seed), seed), tokens) << pair->source;
  }
}

TEST_F(SubwordSamplerTest, EveryCutOfAtMostTwiceTheTokensComes) {
  const std::string line = "vingt et un";
  const Cut tokens = codec().encode(line);
  const auto found = counts(line, 0.01, 20'000);
  EXPECT_EQ(std::ssize(found), ways("▁vingt▁et▁un", 2 * tokens.size()));
  EXPECT_GT(std::ssize(found), 3);
}

// A cut's probability is proportional to p^alpha, so twice the power has twice the log-odds.
TEST_F(SubwordSamplerTest, ProbabilitiesFollowThePower) {
  const std::string line = "trente et un";
  auto once = counts(line, 0.15, 40'000);
  auto twice = counts(line, 0.3, 40'000);
  std::vector<Cut> frequent;
  for (const auto& [cut, count] : once) {
    // The best cut also stands for draws that were too long.
    if (cut != codec().encode(line) && count >= 400 && twice[cut] >= 400) frequent.push_back(cut);
  }
  ASSERT_GT(frequent.size(), 2u);
  const auto odds = [](std::map<Cut, int>& found, const Cut& a, const Cut& b) {
    return std::log(static_cast<double>(found[a]) / found[b]);
  };
  for (const Cut& cut : frequent) {
    // Standard deviations of both sides together are at most 0.16.
    EXPECT_NEAR(odds(twice, cut, frequent[0]), 2 * odds(once, cut, frequent[0]), 0.5);
  }
}

TEST_F(SubwordSamplerTest, SpecialTokensStayAndNothingIsNothing) {
  const SubwordSampler sampler(model(), 0.2);
  EXPECT_EQ(sampler(Cut{}, 1), Cut{});
  EXPECT_EQ(sampler(Cut{kUnknown}, 1), Cut{kUnknown});
  Cut tokens = codec().encode("vingt");
  tokens.push_back(kUnknown);
  for (const TokenId token : codec().encode("trente")) tokens.push_back(token);
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Cut drawn = sampler(tokens, seed);
    const auto unknown = std::find(drawn.begin(), drawn.end(), kUnknown);
    ASSERT_NE(unknown, drawn.end());
    EXPECT_EQ(codec().decode(Cut(drawn.begin(), unknown)), "vingt");
    EXPECT_EQ(codec().decode(Cut(unknown + 1, drawn.end())), "trente");
  }
}

TEST_F(SubwordSamplerTest, RefusesWhatItCannotDrawFrom) {
  const SubwordSampler sampler(model(), 0.2);
  for (const TokenId token : {TokenId{-1}, codec().vocabulary().size()}) {
    EXPECT_THROW(sampler(Cut{token}, 1), UsageError);
  }
  for (const double alpha : {0.0, -1.0, std::nan(""), HUGE_VAL}) {
    EXPECT_THROW(SubwordSampler(model(), alpha), UsageError);
  }
  // The message trainer_spec once more, with model_type BPE: parts that stand twice are merged.
  const auto bpe = model().string() + ".bpe";
  testing::write_file(bpe, testing::read_file(model()) + std::string("\x12\x02\x18\x02"));
  try {
    SubwordSampler sampler(bpe, 0.2);
    FAIL() << "a model without probabilities was taken";
  } catch (const DataError& error) {
    EXPECT_NE(std::string(error.what()).find("unigram"), std::string::npos) << error.what();
  }
}

}  // namespace subword_sampler_test
}  // namespace pagoda
