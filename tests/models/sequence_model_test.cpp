#include <pagoda/base/error.h>
#include <pagoda/models/sequence_model.h>
#include <pagoda/text/sequence_batches.h>

#include <memory>
#include <numeric>
#include <set>
#include <vector>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "support/tiny_translation.h"

namespace pagoda {
namespace sequence_model_test {

using testing::kTinyVocabulary;
using testing::tiny_models;
using testing::tiny_options;
using testing::tiny_pairs;
using testing::tiny_transformer_options;
using testing::TinyModel;

class SequenceModelTest : public ::testing::TestWithParam<TinyModel> {
 protected:
  std::shared_ptr<SequenceModel> make() const {
    torch::manual_seed(6);
    auto model = GetParam().make();
    model->to(torch::kDouble);
    return model;
  }
};

INSTANTIATE_TEST_SUITE_P(Models, SequenceModelTest, ::testing::ValuesIn(tiny_models()),
                         [](const auto& info) { return info.param.name; });

SequenceBatch batch_of(const std::vector<std::int64_t>& numbers) {
  static const PairStore pairs = tiny_pairs(64);
  return sequence_batch(pairs, numbers);
}

SoftmaxLoss loss_of(const std::shared_ptr<SequenceModel>& model, const SequenceBatch& batch) {
  return model->loss(batch.source, batch.source_lengths, batch.target);
}

TEST_P(SequenceModelTest, TheLossIsThatOfTheStepsOneByOne) {
  const auto model = make();
  const SequenceBatch batch = batch_of({0, 1, 2, 3, 4});
  const double loss = loss_of(model, batch).loss.item<double>();
  const auto state = model->start(batch.source, batch.source_lengths);
  double sum = 0;
  for (std::int64_t t = 0; t + 1 < batch.target.size(1); ++t) {
    const DecoderStep step = model->step(batch.target.select(1, t), *state, WithAttention::yes);
    const at::Tensor chances = model->logits(step.hidden).log_softmax(-1);
    EXPECT_EQ(step.attention.sizes(), (std::vector<std::int64_t>{5, batch.source.size(1)}));
    EXPECT_NEAR(step.attention.sum().item<double>(), 5, 1e-9);
    for (std::int64_t row = 0; row < 5; ++row) {
      const auto next = batch.target[row][t + 1].item<std::int64_t>();
      if (next != kPad) sum -= chances[row][next].item<double>();
    }
  }
  EXPECT_NEAR(loss, sum / batch.tokens, 1e-12);
}

TEST_P(SequenceModelTest, WhatFillsUpDoesNotCount) {
  const auto model = make();
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

TEST_P(SequenceModelTest, EveryParameterLearnsAndTheGradientIsRight) {
  const auto model = make();
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

TEST(SequenceModelSoftmaxTest, TrainingSamplesAndEvaluationDoesNot) {
  auto options = tiny_options();
  options.softmax = SoftmaxKind::sampled;
  torch::manual_seed(1);
  const auto model = std::make_shared<Seq2SeqImpl>(options);
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

TEST(SequenceModelSoftmaxTest, SmoothingIsForTrainingOnly) {
  auto options = tiny_options();
  options.label_smoothing = 0.2;
  options.row_gradients = RowGradients::dense;
  torch::manual_seed(1);
  const auto model = std::make_shared<Seq2SeqImpl>(options);
  const SequenceBatch batch = batch_of({0, 1, 2});
  const SoftmaxLoss training = loss_of(model, batch);
  EXPECT_FALSE(training.loss.equal(training.negative_log_likelihood));
  training.loss.backward();
  EXPECT_FALSE(model->named_parameters()["source_embedding.weight"].grad().is_sparse());
  model->eval();
  EXPECT_TRUE(loss_of(model, batch).loss.equal(training.negative_log_likelihood));
}

TEST(SequenceModelLearningTest, BothLearnToReverse) {
  torch::manual_seed(2);
  Seq2SeqOptions rnn = tiny_options();
  rnn.hidden = 32;
  rnn.embedding = 16;
  rnn.layers = 1;
  rnn.row_gradients = RowGradients::dense;
  TransformerOptions transformer = tiny_transformer_options();
  transformer.hidden = 16;
  transformer.ffn = 32;
  transformer.row_gradients = RowGradients::dense;
  const std::vector<std::shared_ptr<SequenceModel>> models{
      std::make_shared<Seq2SeqImpl>(rnn), std::make_shared<TransformerImpl>(transformer)};
  std::vector<std::int64_t> all(64);
  std::iota(all.begin(), all.end(), 0);
  const SequenceBatch batch = batch_of(all);
  for (const auto& model : models) {
    torch::optim::Adam optimizer(model->parameters(), torch::optim::AdamOptions(0.02));
    for (int i = 0; i < 150; ++i) {
      optimizer.zero_grad();
      loss_of(model, batch).loss.backward();
      optimizer.step();
    }
    EXPECT_LT(loss_of(model, batch).loss.item<double>(), 0.05);
  }
}

TEST_P(SequenceModelTest, ItsLayersOneAfterTheOtherAreTheModel) {
  const auto model = make();
  const SequenceBatch batch = batch_of({0, 3, 4, 7});
  Tensors x{batch.source, batch.source_lengths, batch.target};
  const auto layers = model->layers();
  EXPECT_EQ(layers.size(), GetParam().layers);
  for (const Layer& layer : layers) x = layer.forward(x);
  EXPECT_NEAR(model->softmax(x).loss.item<double>(), loss_of(model, batch).loss.item<double>(),
              1e-14);
}

TEST_P(SequenceModelTest, EveryTensorIsInOneLayer) {
  const auto model = make();
  std::multiset<const void*> covered;
  for (const Layer& layer : model->layers()) {
    for (const auto& tensor : layer.tensors) covered.insert(tensor.unsafeGetTensorImpl());
  }
  for (const auto& item : model->named_parameters())
    EXPECT_EQ(covered.count(item.value().unsafeGetTensorImpl()), 1u) << item.key();
  EXPECT_EQ(covered.size(), model->parameters().size() + model->buffers().size());
}

TEST_P(SequenceModelTest, RowsOfADecoderAreRepeatedAndLeftOut) {
  const auto model = make();
  model->eval();
  const at::NoGradGuard no_grad;
  const SequenceBatch batch = batch_of({0, 1, 2, 3});
  const auto tokens = [&](const std::vector<std::int64_t>& numbers) {
    return torch::tensor(numbers, torch::kLong);
  };
  const auto all = model->start(batch.source, batch.source_lengths);
  model->step(tokens({2, 2, 2, 2}), *all);
  const at::Tensor second = model->step(tokens({5, 6, 7, 8}), *all).hidden;
  const auto some = model->start(batch.source, batch.source_lengths);
  model->step(tokens({2, 2, 2, 2}), *some);
  some->select(tokens({3, 1, 1}));
  const at::Tensor chosen = model->step(tokens({8, 6, 9}), *some).hidden;
  EXPECT_TRUE(at::allclose(chosen[0], second[3], 1e-12, 1e-12));
  EXPECT_TRUE(at::allclose(chosen[1], second[1], 1e-12, 1e-12));
  EXPECT_FALSE(at::allclose(chosen[2], second[1], 1e-3, 1e-3));
  some->select(tokens({2, 0}));
  const auto again = model->start(batch.source, batch.source_lengths);
  model->step(tokens({2, 2, 2, 2}), *again);
  model->step(tokens({5, 9, 7, 8}), *again);
  const at::Tensor third = model->step(tokens({4, 4, 4, 4}), *again).hidden;
  EXPECT_TRUE(at::allclose(model->step(tokens({4, 4}), *some).hidden[0], third[1], 1e-12, 1e-12));
}

}  // namespace sequence_model_test
}  // namespace pagoda
