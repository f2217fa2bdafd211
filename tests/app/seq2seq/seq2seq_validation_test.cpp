#include "seq2seq/seq2seq_validation.h"

#include <pagoda/device/device_list.h>

#include <gtest/gtest.h>

#include "support/tiny_translation.h"
#include "world/ranks.h"

namespace pagoda::app {
namespace seq2seq_validation_test {

using testing::tiny_options;
using testing::tiny_pairs;

TextCodec word_codec() {
  std::vector<std::string> words;
  for (std::int64_t i = kSpecialTokens; i < testing::kTinyVocabulary; ++i)
    words.push_back("w" + std::to_string(i));
  return {make_word_tokenizer(), Vocabulary(words)};
}

/// So many pairs as they are and as text, with a line without tokens in between.
EncodedText text_of(const Codecs& codecs, std::int64_t count) {
  EncodedText text;
  text.valid = tiny_pairs(count);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto target = text.valid.targets[i];
    text.references.push_back(codecs.target.decode({target.data(), target.size()}));
    const auto source = text.valid.sources[i];
    text.sources.push_back(i == 2 ? "" : codecs.source.decode({source.data(), source.size()}));
  }
  return text;
}

Seq2SeqTest tested(const SequenceModelPtr& model, const Codecs& codecs, const EncodedText& text,
                   int towers, World* world) {
  auto group = make_towers(select_devices(std::to_string(towers)), [model] {
    const SequenceModelPtr own = std::make_shared<Seq2SeqImpl>(tiny_options());
    own->to(torch::kDouble);
    const at::NoGradGuard no_grad;
    for (std::size_t i = 0; i < own->parameters().size(); ++i)
      own->parameters()[i].copy_(model->parameters()[i]);
    return own;
  });
  TextFlags flags;
  flags.buckets = "2:2,9:9";
  return test_seq2seq(group, flags, codecs, text, world);
}

TEST(Seq2SeqValidationTest, ProcessesDivideTheTextAndEachGetsTheResultOfAll) {
  const SequenceModelPtr model = std::make_shared<Seq2SeqImpl>(tiny_options());
  model->to(torch::kDouble);
  const Codecs codecs{word_codec(), word_codec()};
  for (const std::int64_t count : {3, 131}) {  // fewer batches than towers, and an uneven end
    const EncodedText text = text_of(codecs, count);
    const Seq2SeqTest expected = tested(model, codecs, text, 1, nullptr);
    for (const int size : {2, 3}) {
      std::vector<Seq2SeqTest> found(static_cast<std::size_t>(size));
      on_ranks(size, [&](World& world) {
        found[static_cast<std::size_t>(world.rank())] =
            tested(model, codecs, text, 1 + world.rank() % 2, &world);
      });
      for (const Seq2SeqTest& one : found) {
        EXPECT_EQ(one.pairs, count);
        EXPECT_EQ(one.evaluation.weight, expected.evaluation.weight);
        EXPECT_NEAR(one.evaluation.loss, expected.evaluation.loss, 1e-12);
        ASSERT_EQ(one.evaluation.metrics.size(), expected.evaluation.metrics.size());
        for (const auto& [name, value] : expected.evaluation.metrics) {
          EXPECT_NEAR(one.evaluation.metric(name), value, 1e-9) << name;
          EXPECT_EQ(one.evaluation.metric(name), found[0].evaluation.metric(name)) << name;
        }
        ASSERT_EQ(one.shown.size(), expected.shown.size());
        for (std::size_t i = 0; i < one.shown.size(); ++i)
          EXPECT_EQ(one.shown[i].text(), expected.shown[i].text());
      }
    }
  }
}

}  // namespace seq2seq_validation_test
}  // namespace pagoda::app
