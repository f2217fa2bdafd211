#include <pagoda/base/error.h>
#include <pagoda/models/seq2seq.h>

#include <functional>

#include <gtest/gtest.h>

#include "support/tiny_translation.h"

namespace pagoda {
namespace seq2seq_test {

// What it computes is tested with the other sequence models, in sequence_model_test.cpp.

using testing::tiny_options;

TEST(Seq2SeqOptionsTest, RefusesWhatCannotBe) {
  const auto refuses = [](const std::function<void(Seq2SeqOptions&)>& change) {
    auto options = tiny_options();
    change(options);
    EXPECT_THROW(Seq2Seq{options}, UsageError);
  };
  refuses([](Seq2SeqOptions& o) { o.layers = 0; });
  refuses([](Seq2SeqOptions& o) { o.hidden = 0; });
  refuses([](Seq2SeqOptions& o) { o.hidden = 7, o.bidirectional = true; });
  refuses([](Seq2SeqOptions& o) { o.dropout = 1; });
  refuses([](Seq2SeqOptions& o) { o.label_smoothing = -0.1; });
  refuses([](Seq2SeqOptions& o) { o.tied = TiedEmbeddings::all, o.source_vocabulary = 5; });
  refuses([](Seq2SeqOptions& o) { o.softmax = SoftmaxKind::sampled, o.samples = 100; });
  refuses([](Seq2SeqOptions& o) { o.softmax = SoftmaxKind::sampled, o.label_smoothing = 0.1; });
}

}  // namespace seq2seq_test
}  // namespace pagoda
