#include <pagoda/base/error.h>
#include <pagoda/models/seq2seq.h>
#include <pagoda/text/sequence_batches.h>

#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "support/tiny_translation.h"

namespace pagoda {
namespace seq2seq_test {

using testing::kTinyVocabulary;
using testing::tiny_options;
using testing::tiny_pairs;

struct Variant {
  std::string name;
  std::function<void(Seq2SeqOptions&)> change;
};

std::vector<Variant> variants() {
  return {{"plain", [](Seq2SeqOptions&) {}},
          {"gru", [](Seq2SeqOptions& o) { o.cell = Cell::gru; }},
          {"bidirectional", [](Seq2SeqOptions& o) { o.bidirectional = true; }},
          {"bahdanau", [](Seq2SeqOptions& o) { o.attention = AttentionKind::bahdanau; }},
          {"input_feeding", [](Seq2SeqOptions& o) { o.input_feeding = true; }},
          {"tied_output", [](Seq2SeqOptions& o) { o.tied = TiedEmbeddings::output; }},
          {"everything", [](Seq2SeqOptions& o) {
             o.cell = Cell::gru;
             o.bidirectional = true;
             o.attention = AttentionKind::bahdanau;
             o.input_feeding = true;
             o.tied = TiedEmbeddings::all;
           }}};
}

class Seq2SeqTest : public ::testing::TestWithParam<Variant> {
 protected:
  Seq2Seq make() const {
    torch::manual_seed(6);
    Seq2SeqOptions options = tiny_options();
    GetParam().change(options);
    Seq2Seq model(options);
    model->to(torch::kDouble);
    return model;
  }
};

INSTANTIATE_TEST_SUITE_P(Variants, Seq2SeqTest, ::testing::ValuesIn(variants()),
                         [](const auto& info) { return info.param.name; });

SequenceBatch batch_of(const std::vector<std::int64_t>& numbers) {
  static const PairStore pairs = tiny_pairs(64);
  return sequence_batch(pairs, numbers);
}

SoftmaxLoss loss_of(Seq2Seq& model, const SequenceBatch& batch) {
  return model->loss(batch.source, batch.source_lengths, batch.target);
}

TEST_P(Seq2SeqTest, TheLossIsThatOfTheStepsOneByOne) {
  Seq2Seq model = make();
  const SequenceBatch batch = batch_of({0, 1, 2, 3, 4});
  const double loss = loss_of(model, batch).loss.item<double>();
  DecoderState state = model->start(model->encode(batch.source, batch.source_lengths));
  double sum = 0;
  for (std::int64_t t = 0; t + 1 < batch.target.size(1); ++t) {
    const DecoderStep step = model->step(batch.target.select(1, t), state);
    EXPECT_EQ(step.attention.sizes(), (std::vector<std::int64_t>{5, batch.source.size(1)}));
    EXPECT_NEAR(step.log_probabilities.exp().sum().item<double>(), 5, 1e-9);
    for (std::int64_t row = 0; row < 5; ++row) {
      const auto next = batch.target[row][t + 1].item<std::int64_t>();
      if (next != kPad) sum -= step.log_probabilities[row][next].item<double>();
    }
  }
  EXPECT_NEAR(loss, sum / batch.tokens, 1e-12);
}

TEST_P(Seq2SeqTest, WhatFillsUpDoesNotCount) {
  Seq2Seq model = make();
  double sum = 0;
  double tokens = 0;
  for (std::int64_t i = 0; i < 8; ++i) {
    const SequenceBatch alone = batch_of({i});
    sum += loss_of(model, alone).loss.item<double>() * alone.tokens;
    tokens += alone.tokens;
  }
  const double together = loss_of(model, batch_of({0, 1, 2, 3, 4, 5, 6, 7})).loss.item<double>();
  EXPECT_NEAR(together, sum / tokens, 1e-12);
}

TEST_P(Seq2SeqTest, EveryParameterLearnsAndTheGradientIsRight) {
  Seq2Seq model = make();
  const SequenceBatch batch = batch_of({0, 1, 2, 3, 4, 5});
  loss_of(model, batch).loss.backward();
  const at::NoGradGuard no_grad;
  for (const auto& item : model->named_parameters()) {
    const at::Tensor value = item.value();
    ASSERT_TRUE(value.grad().defined()) << item.key();
    const at::Tensor gradient =
        value.grad().is_sparse() ? value.grad().to_dense() : value.grad().clone();
    // Along the gradient itself the slope is its squared norm.
    const double norm = gradient.norm().item<double>();
    ASSERT_GT(norm, 0) << item.key();
    const double by = 1e-5 / norm;
    value.add_(gradient, by);
    const double above = loss_of(model, batch).loss.item<double>();
    value.sub_(gradient, 2 * by);
    const double below = loss_of(model, batch).loss.item<double>();
    value.add_(gradient, by);
    EXPECT_NEAR((above - below) / 2e-5, norm, 1e-6 * (1 + norm)) << item.key();
  }
}

TEST(Seq2SeqSoftmaxTest, TrainingSamplesAndEvaluationDoesNot) {
  auto options = tiny_options();
  options.softmax = SoftmaxKind::sampled;
  torch::manual_seed(1);
  Seq2Seq model(options);
  const SequenceBatch batch = batch_of({0, 1, 2});
  EXPECT_THROW(loss_of(model, batch), UsageError);
  const Candidates candidates = draw_candidates(kTinyVocabulary, options.samples, 5);
  const at::Tensor sampled =
      model->loss(batch.source, batch.source_lengths, batch.target, candidates).loss;
  sampled.backward();
  EXPECT_TRUE(model->named_parameters()["output_weight"].grad().is_sparse());
  EXPECT_TRUE(model->named_parameters()["source_embedding.weight"].grad().is_sparse());
  model->eval();
  const SoftmaxLoss full = loss_of(model, batch);
  EXPECT_NE(full.loss.item<double>(), sampled.item<double>());
  EXPECT_TRUE(full.loss.equal(full.negative_log_likelihood));
}

TEST(Seq2SeqSoftmaxTest, SmoothingIsForTrainingOnly) {
  auto options = tiny_options();
  options.label_smoothing = 0.2;
  options.row_gradients = RowGradients::dense;
  torch::manual_seed(1);
  Seq2Seq model(options);
  const SequenceBatch batch = batch_of({0, 1, 2});
  const SoftmaxLoss training = loss_of(model, batch);
  EXPECT_FALSE(training.loss.equal(training.negative_log_likelihood));
  training.loss.backward();
  EXPECT_FALSE(model->named_parameters()["source_embedding.weight"].grad().is_sparse());
  model->eval();
  EXPECT_TRUE(loss_of(model, batch).loss.equal(training.negative_log_likelihood));
}

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

TEST(Seq2SeqLearningTest, LearnsToReverse) {
  torch::manual_seed(2);
  auto options = tiny_options();
  options.hidden = 32;
  options.embedding = 16;
  options.layers = 1;
  options.row_gradients = RowGradients::dense;
  Seq2Seq model(options);
  torch::optim::Adam optimizer(model->parameters(), torch::optim::AdamOptions(0.02));
  std::vector<std::int64_t> all(64);
  std::iota(all.begin(), all.end(), 0);
  const SequenceBatch batch = batch_of(all);
  for (int i = 0; i < 150; ++i) {
    optimizer.zero_grad();
    loss_of(model, batch).loss.backward();
    optimizer.step();
  }
  EXPECT_LT(loss_of(model, batch).loss.item<double>(), 0.05);
}

}  // namespace seq2seq_test
}  // namespace pagoda
