#include <pagoda/models/seq2seq.h>
#include <pagoda/text/sequence_batches.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "support/tiny_translation.h"

namespace pagoda {
namespace seq2seq_layers_test {

using testing::tiny_options;
using testing::tiny_pairs;

struct Variant {
  std::string name;
  std::size_t layers;
  std::function<void(Seq2SeqOptions&)> change;
};

/// Two layers of encoder and decoder each.
std::vector<Variant> variants() {
  return {{"plain", 5, [](Seq2SeqOptions&) {}},
          {"gru", 5, [](Seq2SeqOptions& o) { o.cell = Cell::gru; }},
          {"bidirectional", 5,
           [](Seq2SeqOptions& o) {
             o.bidirectional = true;
             o.attention = AttentionKind::bahdanau;
           }},
          {"input_feeding", 3, [](Seq2SeqOptions& o) { o.input_feeding = true; }},
          {"tied_output", 3, [](Seq2SeqOptions& o) { o.tied = TiedEmbeddings::output; }},
          {"tied_all", 1, [](Seq2SeqOptions& o) { o.tied = TiedEmbeddings::all; }}};
}

class Seq2SeqLayersTest : public ::testing::TestWithParam<Variant> {
 protected:
  Seq2Seq make() const {
    Seq2SeqOptions options = tiny_options();
    GetParam().change(options);
    Seq2Seq model(options);
    model->to(torch::kDouble);
    return model;
  }
};

INSTANTIATE_TEST_SUITE_P(Variants, Seq2SeqLayersTest, ::testing::ValuesIn(variants()),
                         [](const auto& info) { return info.param.name; });

TEST_P(Seq2SeqLayersTest, OneAfterTheOtherTheyAreTheModel) {
  Seq2Seq model = make();
  const PairStore pairs = tiny_pairs(8);
  const SequenceBatch batch = sequence_batch(pairs, {0, 3, 4, 7});
  const SoftmaxLoss expected = model->loss(batch.source, batch.source_lengths, batch.target);
  Tensors x{batch.source, batch.source_lengths, batch.target};
  const auto layers = model->layers();
  EXPECT_EQ(layers.size(), GetParam().layers);
  for (const Layer& layer : layers) x = layer.forward(x);
  EXPECT_NEAR(model->softmax(x).loss.item<double>(), expected.loss.item<double>(), 1e-14);
}

TEST_P(Seq2SeqLayersTest, EveryTensorIsInOneLayer) {
  Seq2Seq model = make();
  std::multiset<const void*> covered;
  for (const Layer& layer : model->layers()) {
    for (const auto& tensor : layer.tensors) covered.insert(tensor.unsafeGetTensorImpl());
  }
  for (const auto& entry : model->named_parameters())
    EXPECT_EQ(covered.count(entry.value().unsafeGetTensorImpl()), 1u) << entry.key();
}

}  // namespace seq2seq_layers_test
}  // namespace pagoda
