#include <pagoda/base/error.h>
#include <pagoda/models/decoding.h>
#include <pagoda/text/sequence_batches.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <vector>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "support/tiny_translation.h"

namespace pagoda {
namespace decoding_test {

using testing::tiny_options;
using testing::tiny_pairs;
using Tokens = std::vector<std::int64_t>;

std::shared_ptr<SequenceModel> ready(std::shared_ptr<SequenceModel> model) {
  model->to(torch::kDouble);
  const at::NoGradGuard no_grad;
  for (auto& p : model->parameters()) p.mul_(3);  // far from equal chances
  model->eval();
  return model;
}

std::shared_ptr<SequenceModel> make_model(std::int64_t vocabulary, bool input_feeding = false) {
  torch::manual_seed(8);
  auto options = tiny_options();
  options.target_vocabulary = vocabulary;
  options.input_feeding = input_feeding;
  return ready(std::make_shared<Seq2SeqImpl>(options));
}

std::shared_ptr<SequenceModel> make_transformer(std::int64_t vocabulary) {
  torch::manual_seed(8);
  auto options = testing::tiny_transformer_options();
  options.target_vocabulary = vocabulary;
  return ready(std::make_shared<TransformerImpl>(options));
}

SequenceBatch sources_of(const std::vector<std::int64_t>& numbers) {
  return sequence_batch(tiny_pairs(20), numbers);
}

TEST(DecodingTest, ABeamOfOneIsGreedy) {
  for (const auto& model :
       {make_model(testing::kTinyVocabulary), make_model(testing::kTinyVocabulary, true),
        make_transformer(testing::kTinyVocabulary)}) {
    const SequenceBatch batch = sources_of({0, 1, 2, 3, 4, 5, 6, 7});
    const auto greedily = greedy(*model, batch.source, batch.source_lengths);
    const auto beam = beam_search(*model, batch.source, batch.source_lengths, {.beam_size = 1});
    for (std::size_t i = 0; i < greedily.size(); ++i) {
      ASSERT_EQ(beam[i].size(), 1u);
      EXPECT_EQ(beam[i][0].tokens, greedily[i].tokens);
      EXPECT_EQ(beam[i][0].log_probability, greedily[i].log_probability);
      EXPECT_EQ(beam[i][0].ended, greedily[i].ended);
    }
  }
}

TEST(DecodingTest, ForbiddenTokensAreNotProduced) {
  const auto model = make_model(testing::kTinyVocabulary);
  const SequenceBatch batch = sources_of({0, 1, 2, 3, 4, 5, 6, 7});
  const std::int64_t usual = greedy(*model, batch.source, batch.source_lengths)[0].tokens.at(0);
  const DecodeOptions without{.never = {usual}};
  const auto lacks_it = [&](const Hypothesis& one) {
    return std::count(one.tokens.begin(), one.tokens.end(), usual) == 0;
  };
  for (const auto& one : greedy(*model, batch.source, batch.source_lengths, without))
    EXPECT_TRUE(lacks_it(one));
  for (const auto& one :
       sample(*model, batch.source, batch.source_lengths, {.decode = without, .seed = 3}))
    EXPECT_TRUE(lacks_it(one));
  for (const auto& found : beam_search(*model, batch.source, batch.source_lengths,
                                       {.decode = without, .beam_size = 4, .n_best = 4})) {
    EXPECT_TRUE(std::all_of(found.begin(), found.end(), lacks_it));
  }
}

void expect_decoded_as_alone(const std::shared_ptr<SequenceModel>& model) {
  const SequenceBatch batch = sources_of({0, 1, 2, 3, 4, 5, 6, 7});
  const BeamSearchOptions options{.beam_size = 3, .n_best = 3};
  const auto together = beam_search(*model, batch.source, batch.source_lengths, options);
  for (std::size_t i = 0; i < together.size(); ++i) {
    const SequenceBatch one = sources_of({static_cast<std::int64_t>(i)});
    const auto alone = beam_search(*model, one.source, one.source_lengths, options)[0];
    ASSERT_EQ(together[i].size(), alone.size());
    for (std::size_t n = 0; n < alone.size(); ++n) {
      EXPECT_EQ(together[i][n].tokens, alone[n].tokens);
      EXPECT_NEAR(together[i][n].score, alone[n].score, 1e-9);
    }
  }
}

TEST(DecodingTest, ASourceInABatchIsDecodedAsAlone) {
  expect_decoded_as_alone(make_model(testing::kTinyVocabulary, true));
  expect_decoded_as_alone(make_transformer(testing::kTinyVocabulary));
}

/// The chances of what comes next after these tokens.
at::Tensor chances_after(SequenceModel& model, const SequenceBatch& one, const Tokens& tokens) {
  const auto state = model.start(one.source, one.source_lengths);
  DecoderStep step = model.step(torch::tensor({kBegin}, torch::kLong), *state);
  for (const std::int64_t token : tokens)
    step = model.step(torch::tensor({token}, torch::kLong), *state);
  return model.logits(step.hidden).log_softmax(-1)[0];
}

/// Every target of at most `longest` tokens, with its score.
void extend(SequenceModel& model, const SequenceBatch& one, const Hypothesis& prefix,
            std::size_t longest, double penalty, std::vector<Hypothesis>& all) {
  const at::Tensor chances = chances_after(model, one, prefix.tokens);
  const auto rate = [&](Hypothesis found) {
    const double length = static_cast<double>(found.tokens.size()) + (found.ended ? 1 : 0);
    found.score = found.log_probability / std::pow(length, penalty);
    all.push_back(found);
  };
  for (std::int64_t token = 1; token < chances.size(0); ++token) {
    if (token == kBegin) continue;
    Hypothesis longer = prefix;
    longer.log_probability += chances[token].item<double>();
    longer.ended = token == kEnd;
    if (!longer.ended) longer.tokens.push_back(token);
    if (longer.ended || longer.tokens.size() == longest) {
      rate(longer);
    } else {
      extend(model, one, longer, longest, penalty, all);
    }
  }
}

void expect_brute_force_finds_the_same(const std::shared_ptr<SequenceModel>& model) {
  const at::NoGradGuard no_grad;
  const SequenceBatch batch = sources_of({0, 3});
  for (const double penalty : {0.0, 0.6, 1.0}) {
    const BeamSearchOptions options{.decode = {.max_length_factor = 0, .max_length_extra = 4},
                                    .beam_size = 400,
                                    .n_best = 10,
                                    .length_penalty = penalty};
    const auto found = beam_search(*model, batch.source, batch.source_lengths, options);
    for (std::int64_t i = 0; i < 2; ++i) {
      std::vector<Hypothesis> all;
      const SequenceBatch one = sources_of({i == 0 ? 0 : 3});
      extend(*model, one, {}, 4, penalty, all);
      ASSERT_EQ(all.size(), 1u + 3 + 9 + 27 + 81);  // three tokens and the end, at most four
      std::sort(all.begin(), all.end(),
                [](const auto& a, const auto& b) { return a.score > b.score; });
      for (std::size_t n = 0; n < 10; ++n) {
        const Hypothesis& ours = found[static_cast<std::size_t>(i)][n];
        EXPECT_EQ(ours.tokens, all[n].tokens) << penalty << " " << n;
        EXPECT_NEAR(ours.score, all[n].score, 1e-9);
        EXPECT_EQ(ours.ended, all[n].ended);
      }
    }
  }
}

TEST(DecodingTest, AWideBeamFindsWhatBruteForceFinds) {
  expect_brute_force_finds_the_same(make_model(6));
  expect_brute_force_finds_the_same(make_transformer(6));
}

TEST(DecodingTest, GreedyWithoutScoresFindsTheSame) {
  const auto model = make_transformer(testing::kTinyVocabulary);
  const SequenceBatch batch = sources_of({0, 1, 2, 3, 4, 5, 6, 7});
  const auto with = greedy(*model, batch.source, batch.source_lengths);
  const auto without = greedy(*model, batch.source, batch.source_lengths, {}, WithScores::no);
  for (std::size_t i = 0; i < with.size(); ++i) {
    EXPECT_EQ(without[i].tokens, with[i].tokens);
    EXPECT_EQ(without[i].score, 0);
  }
}

TEST(DecodingTest, ATargetBeginsWithItsPrefix) {
  const auto model = make_transformer(testing::kTinyVocabulary);
  const SequenceBatch batch = sources_of({0, 1, 2});
  const DecodeOptions options{.never = {5}, .prefixes = {{5, 6}, {}, {7}}};
  const auto free = greedy(*model, batch.source, batch.source_lengths, {.never = {5}});
  const auto found = greedy(*model, batch.source, batch.source_lengths, options);
  ASSERT_GE(found[0].tokens.size(), 2u);
  EXPECT_EQ(Tokens(found[0].tokens.begin(), found[0].tokens.begin() + 2), (Tokens{5, 6}));
  EXPECT_EQ(found[1].tokens, free[1].tokens);
  EXPECT_EQ(found[2].tokens.at(0), 7);
  for (const auto& source : beam_search(*model, batch.source, batch.source_lengths,
                                        {.decode = {.prefixes = {{8}, {8}, {8}}}, .n_best = 5}))
    for (const Hypothesis& one : source) EXPECT_EQ(one.tokens.at(0), 8);
  // The log-probability is that of all tokens, the given ones too.
  Tokens before;
  double sum = 0;
  for (const std::int64_t token : found[0].tokens) {
    sum += chances_after(*model, sources_of({0}), before)[token].item<double>();
    before.push_back(token);
  }
  if (found[0].ended) sum += chances_after(*model, sources_of({0}), before)[kEnd].item<double>();
  EXPECT_NEAR(found[0].log_probability, sum, 1e-9);
}

TEST(DecodingTest, NoSequenceOfTokensComesTwiceWhereThatIsForbidden) {
  const auto model = make_model(6);
  {
    const at::NoGradGuard no_grad;
    model->named_parameters()["output_bias"][kEnd].fill_(-30);  // long targets
  }
  const SequenceBatch batch = sources_of({0, 1, 2, 3});
  for (const std::int64_t length : {1, 2, 3}) {
    const DecodeOptions options{.max_length_extra = 20, .no_repeat_ngram = length};
    for (const Hypothesis& one : greedy(*model, batch.source, batch.source_lengths, options)) {
      std::set<Tokens> seen;
      for (std::size_t i = 0; i + static_cast<std::size_t>(length) <= one.tokens.size(); ++i) {
        const auto begin = one.tokens.begin() + static_cast<std::ptrdiff_t>(i);
        EXPECT_TRUE(seen.insert(Tokens(begin, begin + length)).second);
      }
    }
  }
}

TEST(DecodingTest, AModelOfNumbersThatAreNoneEndsToo) {
  const auto model = make_transformer(testing::kTinyVocabulary);
  {
    const at::NoGradGuard no_grad;
    model->named_parameters()["output_bias"].fill_(std::nan(""));
  }
  const SequenceBatch batch = sources_of({0, 1});
  EXPECT_EQ(greedy(*model, batch.source, batch.source_lengths).size(), 2u);
  for (const auto& found : beam_search(*model, batch.source, batch.source_lengths))
    EXPECT_EQ(found.size(), 1u);
  for (const Hypothesis& drawn : sample(*model, batch.source, batch.source_lengths)) {
    EXPECT_TRUE(drawn.tokens.empty());
    EXPECT_FALSE(drawn.ended);
  }
}

TEST(DecodingTest, LengthIsLimitedByTheSource) {
  const auto model = make_model(testing::kTinyVocabulary);
  {
    const at::NoGradGuard no_grad;
    model->named_parameters()["output_bias"][kEnd].fill_(-1000);  // never ends by itself
  }
  const SequenceBatch batch = sources_of({0, 1, 2});
  const auto found = greedy(*model, batch.source, batch.source_lengths,
                            {.max_length_factor = 1.5, .max_length_extra = 2});
  for (std::size_t i = 0; i < 3; ++i) {
    const auto length = batch.source_lengths[static_cast<std::int64_t>(i)].item<double>();
    EXPECT_EQ(static_cast<double>(found[i].tokens.size()), std::ceil(1.5 * length) + 2);
    EXPECT_FALSE(found[i].ended);
    EXPECT_EQ(std::count(found[i].tokens.begin(), found[i].tokens.end(), kPad), 0);
    EXPECT_EQ(std::count(found[i].tokens.begin(), found[i].tokens.end(), kBegin), 0);
  }
}

TEST(DecodingTest, AttentionComesOnRequest) {
  const auto model = make_model(testing::kTinyVocabulary);
  const SequenceBatch batch = sources_of({0, 1, 2});
  const auto with = beam_search(*model, batch.source, batch.source_lengths,
                                {.decode = {.attention = true}, .beam_size = 2, .n_best = 2});
  for (const auto& source : with) {
    for (const Hypothesis& one : source) {
      const auto rows = static_cast<std::int64_t>(one.tokens.size()) + (one.ended ? 1 : 0);
      ASSERT_EQ(one.attention.sizes(), (Tokens{rows, batch.source.size(1)}));
      EXPECT_LT((one.attention.sum(1) - 1).abs().max().item<double>(), 1e-9);
    }
  }
  EXPECT_FALSE(greedy(*model, batch.source, batch.source_lengths)[0].attention.defined());
}

TEST(SamplingTest, OneTokenToDrawFromIsGreedy) {
  const auto model = make_model(testing::kTinyVocabulary);
  const SequenceBatch batch = sources_of({0, 1, 2, 3});
  const auto greedily = greedy(*model, batch.source, batch.source_lengths);
  const auto drawn = sample(*model, batch.source, batch.source_lengths, {.top_k = 1});
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(drawn[i].tokens, greedily[i].tokens);
  for (const double temperature : {1e-6, 1e-310}) {
    const auto cold =
        sample(*model, batch.source, batch.source_lengths, {.temperature = temperature});
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(cold[i].tokens, greedily[i].tokens);
  }
}

TEST(SamplingTest, FollowsTheProbabilitiesAndTheSeed) {
  const auto model = make_model(6);
  const at::NoGradGuard no_grad;
  for (auto& p : model->parameters()) p.mul_(0.3);
  const SequenceBatch one = sources_of({0});
  const at::Tensor chances = chances_after(*model, one, {});
  // The first token, with temperature 0.5 and three tokens to draw from.
  at::Tensor possible = chances.clone();
  possible[kPad] = possible[kBegin] = -1e9;
  const auto [top, ids] = possible.topk(3);
  const at::Tensor expected = (top / 0.5).softmax(0);
  constexpr int kDraws = 3000;
  const at::Tensor sources = one.source.expand({kDraws, -1}).contiguous();
  const at::Tensor lengths = one.source_lengths.expand({kDraws}).contiguous();
  const SamplingOptions options{.decode = {.max_length_factor = 0, .max_length_extra = 1},
                                .temperature = 0.5,
                                .top_k = 3,
                                .seed = 4};
  const auto drawn = sample(*model, sources, lengths, options);
  std::vector<double> counts(6);
  for (const auto& hypothesis : drawn) {
    counts[static_cast<std::size_t>(hypothesis.ended ? kEnd : hypothesis.tokens[0])] += 1;
  }
  double seen = 0;
  for (std::int64_t i = 0; i < 3; ++i) {
    const double chance = expected[i].item<double>();
    const double count = counts[static_cast<std::size_t>(ids[i].item<std::int64_t>())];
    EXPECT_NEAR(count, kDraws * chance, 5 * std::sqrt(kDraws * chance) + 1);
    seen += count;
  }
  EXPECT_EQ(seen, kDraws);
  const auto again = sample(*model, sources, lengths, options);
  for (std::size_t i = 0; i < drawn.size(); ++i) EXPECT_EQ(again[i].tokens, drawn[i].tokens);
}

TEST(DecodingTest, RefusesWhatCannotBe) {
  const auto model = make_model(6);
  const SequenceBatch one = sources_of({0});
  EXPECT_THROW(beam_search(*model, one.source, one.source_lengths, {.beam_size = 0}), UsageError);
  EXPECT_THROW(beam_search(*model, one.source, one.source_lengths, {.beam_size = 2, .n_best = 3}),
               UsageError);
  EXPECT_THROW(greedy(*model, one.source, one.source_lengths,
                      {.max_length_factor = 0, .max_length_extra = 0}),
               UsageError);
  EXPECT_THROW(sample(*model, one.source, one.source_lengths, {.temperature = 0}), UsageError);
  EXPECT_THROW(sample(*model, one.source, one.source_lengths, {.top_k = -1}), UsageError);
  EXPECT_THROW(greedy(*model, one.source, one.source_lengths, {.prefixes = {{4}, {4}}}),
               UsageError);
  EXPECT_THROW(greedy(*model, one.source, one.source_lengths, {.prefixes = {{kEnd}}}), UsageError);
  EXPECT_THROW(greedy(*model, one.source, one.source_lengths, {.no_repeat_ngram = -1}), UsageError);
  const std::int64_t past = model->tokens().target_vocabulary;
  for (const std::int64_t token : {std::int64_t{-1}, past}) {
    for (const DecodeOptions& options :
         {DecodeOptions{.never = {4, token}}, DecodeOptions{.prefixes = {{4, token}}},
          DecodeOptions{.begin_token = token}, DecodeOptions{.end_token = token}}) {
      EXPECT_THROW(greedy(*model, one.source, one.source_lengths, options), UsageError) << token;
    }
  }
  for (const double factor : {1e7, HUGE_VAL, std::nan("")}) {
    EXPECT_THROW(greedy(*model, one.source, one.source_lengths, {.max_length_factor = factor}),
                 UsageError);
  }
}

std::vector<Tokens> same_choice(const Tokens& tokens, std::size_t sources) {
  return std::vector<Tokens>(sources, tokens);
}

TEST(DecodingTest, AChoiceOfAllTokensChangesNothing) {
  Tokens all;
  for (std::int64_t i = 0; i < testing::kTinyVocabulary; ++i) all.push_back(i);
  for (const auto& model :
       {make_model(testing::kTinyVocabulary), make_transformer(testing::kTinyVocabulary)}) {
    const SequenceBatch batch = sources_of({0, 1, 2, 3, 4});
    const auto plain = beam_search(*model, batch.source, batch.source_lengths, {.n_best = 3});
    const auto chosen =
        beam_search(*model, batch.source, batch.source_lengths,
                    {.decode = {.choices = same_choice(all, plain.size())}, .n_best = 3});
    for (std::size_t i = 0; i < plain.size(); ++i) {
      ASSERT_EQ(plain[i].size(), chosen[i].size());
      for (std::size_t n = 0; n < plain[i].size(); ++n) {
        EXPECT_EQ(plain[i][n].tokens, chosen[i][n].tokens);
        EXPECT_NEAR(plain[i][n].score, chosen[i][n].score, 1e-10);
      }
    }
  }
}

TEST(DecodingTest, TargetsHoldWhatTheirOwnSourceChooses) {
  const auto model = make_transformer(testing::kTinyVocabulary);
  const SequenceBatch batch = sources_of({0, 1, 2, 3});
  const std::vector<Tokens> choices{{5, 4}, {6}, {}, {11, 7, 7, 9}};
  const auto found =
      beam_search(*model, batch.source, batch.source_lengths, {.decode = {.choices = choices}});
  for (std::size_t i = 0; i < choices.size(); ++i) {
    for (const std::int64_t token : found[i][0].tokens)
      EXPECT_TRUE(std::count(choices[i].begin(), choices[i].end(), token) > 0) << token;
    // The others of the batch do not matter.
    const SequenceBatch alone = sources_of({static_cast<std::int64_t>(i)});
    const auto one = beam_search(*model, alone.source, alone.source_lengths,
                                 {.decode = {.choices = {choices[i]}}});
    EXPECT_EQ(one[0][0].tokens, found[i][0].tokens);
    EXPECT_NEAR(one[0][0].log_probability, found[i][0].log_probability, 1e-9);
  }
  EXPECT_TRUE(found[2][0].tokens.empty());  // only the end is left
}

TEST(DecodingTest, ChoicesGoWithPrefixesAndRepeatedTokens) {
  const auto model = make_model(testing::kTinyVocabulary);
  const SequenceBatch batch = sources_of({3, 4});
  const auto found =
      greedy(*model, batch.source, batch.source_lengths,
             {.prefixes = {{8, 9}, {10}}, .choices = {{4, 5}, {5}}, .no_repeat_ngram = 1});
  EXPECT_EQ(Tokens(found[0].tokens.begin(), found[0].tokens.begin() + 2), (Tokens{8, 9}));
  EXPECT_EQ(found[1].tokens.front(), 10);
  for (const auto& one : found) {
    const std::set<std::int64_t> different(one.tokens.begin(), one.tokens.end());
    EXPECT_EQ(different.size(), one.tokens.size());
  }
}

TEST(DecodingTest, ChoicesThatCannotBeAreRefused) {
  const auto model = make_model(testing::kTinyVocabulary);
  const SequenceBatch batch = sources_of({0, 1});
  const auto decode = [&](std::vector<Tokens> choices) {
    return greedy(*model, batch.source, batch.source_lengths, {.choices = std::move(choices)});
  };
  EXPECT_THROW(decode({{4}}), UsageError);
  EXPECT_THROW(decode({{4}, {testing::kTinyVocabulary}}), UsageError);
  EXPECT_THROW(decode({{-1}, {4}}), UsageError);
}

}  // namespace decoding_test
}  // namespace pagoda
