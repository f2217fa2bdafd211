#include "seq2seq/translator.h"

#include <pagoda/device/device_list.h>

#include <algorithm>
#include <mutex>

#include <gtest/gtest.h>

#include "support/tiny_translation.h"

namespace pagoda::app {
namespace translator_test {

using testing::tiny_options;
using Shape = std::pair<std::int64_t, std::int64_t>;  // lines, places

TextCodec word_codec() {
  std::vector<std::string> words;
  for (std::int64_t i = kSpecialTokens; i < testing::kTinyVocabulary; ++i)
    words.push_back("w" + std::to_string(i));
  return {make_word_tokenizer(), Vocabulary(words)};
}

/// Lines of so many words each.
std::vector<std::string> lines_of(const std::vector<int>& lengths) {
  std::vector<std::string> lines;
  for (const int length : lengths) {
    std::string line;
    for (int i = 0; i < length; ++i) {
      const auto word =
          kSpecialTokens + (length * 3 + i * 5) % (testing::kTinyVocabulary - kSpecialTokens);
      line += "w" + std::to_string(word) + " ";
    }
    lines.push_back(line);
  }
  return lines;
}

SequenceModelPtr tiny_rnn() { return std::make_shared<Seq2SeqImpl>(tiny_options()); }

/// Towers with copies of one model.
Towers<SequenceModelPtr> towers_of(int count, const SequenceModelPtr& model = tiny_rnn()) {
  return make_towers(select_devices(std::to_string(count)), [model] {
    const SequenceModelPtr own = tiny_rnn();
    own->to(torch::kDouble);
    const at::NoGradGuard no_grad;
    for (std::size_t i = 0; i < own->parameters().size(); ++i)
      own->parameters()[i].copy_(model->parameters()[i]);
    return own;
  });
}

/// The batches that the lines were decoded in, sorted.
std::vector<Shape> batches_of(const std::vector<int>& lengths, std::int64_t batch_tokens,
                              int towers) {
  std::mutex mutex;
  std::vector<Shape> shapes;
  auto group = towers_of(towers);
  translate_lines(group, {word_codec(), word_codec()}, lines_of(lengths),
                  [&](SequenceModel&, const at::Tensor& source, const at::Tensor&, const auto&) {
                    const std::lock_guard lock(mutex);
                    shapes.emplace_back(source.size(0), source.size(1));
                    return std::vector<std::vector<Hypothesis>>(
                        static_cast<std::size_t>(source.size(0)), {Hypothesis{}});
                  },
                  {.batch_tokens = batch_tokens});
  std::sort(shapes.begin(), shapes.end());
  return shapes;
}

TEST(TranslatorTest, BatchesHaveSoManyTokensWithWhatFillsThemUp) {
  const std::vector<int> lengths = {3, 7, 1, 3, 0, 2, 4, 3};
  EXPECT_EQ(batches_of(lengths, 12, 1), (std::vector<Shape>{{1, 7}, {3, 3}, {3, 4}}));
  EXPECT_EQ(batches_of(lengths, 1, 1),
            (std::vector<Shape>{{1, 1}, {1, 2}, {1, 3}, {1, 3}, {1, 3}, {1, 4}, {1, 7}}));
  EXPECT_EQ(batches_of(lengths, 1000, 1), (std::vector<Shape>{{7, 7}}));
}

TEST(TranslatorTest, FewLinesAreDividedAmongAllTowers) {
  EXPECT_EQ(batches_of({3, 7, 1, 3, 2}, 1000, 2), (std::vector<Shape>{{2, 2}, {3, 7}}));
  EXPECT_EQ(batches_of({3}, 1000, 2), (std::vector<Shape>{{1, 3}}));
  EXPECT_EQ(batches_of({0}, 1000, 2), std::vector<Shape>{});
}

TEST(TranslatorTest, WhatIsDecodedTogetherChangesNoTranslation) {
  std::vector<int> lengths;
  for (int i = 0; i < 13; ++i) lengths.push_back(i * 5 % 7);  // some have none
  const auto lines = lines_of(lengths);
  const Codecs codecs{word_codec(), word_codec()};
  const Decode decode = beam_decoding({.decode = {.attention = true}, .beam_size = 3, .n_best = 2});
  const SequenceModelPtr model = tiny_rnn();
  auto one_tower = towers_of(1, model);
  auto two_towers = towers_of(2, model);
  const auto alone = translate_lines(one_tower, codecs, lines, decode, {.batch_tokens = 1});
  ASSERT_EQ(alone.size(), lines.size());
  for (auto* towers : {&one_tower, &two_towers}) {
    const auto found = translate_lines(*towers, codecs, lines, decode, {.batch_tokens = 17});
    ASSERT_EQ(found.size(), lines.size());
    for (std::size_t i = 0; i < lines.size(); ++i) {
      ASSERT_EQ(found[i].size(), alone[i].size());
      for (std::size_t n = 0; n < alone[i].size(); ++n) {
        EXPECT_EQ(found[i][n].text, alone[i][n].text);
        EXPECT_EQ(found[i][n].tokens, alone[i][n].tokens);
        EXPECT_NEAR(found[i][n].score, alone[i][n].score, 1e-12);
        ASSERT_EQ(found[i][n].attention.has_value(), lengths[i] > 0);
        if (lengths[i] == 0) continue;
        EXPECT_TRUE(at::allclose(found[i][n].attention->weights, alone[i][n].attention->weights));
      }
    }
  }
}

}  // namespace translator_test
}  // namespace pagoda::app
