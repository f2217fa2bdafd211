// N towers with sentence pairs of different length equal one device with all pairs, by the weight
// of their tokens: both softmaxes, both ways to update rows.

#include <pagoda/models/sequence_model.h>
#include <pagoda/text/sequence_batches.h>
#include <pagoda/train/evaluate.h>
#include <pagoda/train/sync_step.h>

#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "support/golden.h"
#include "support/tiny_translation.h"

namespace pagoda {
namespace sync_step_golden_seq2seq_test {

using testing::copies;
using testing::copy_values;
using testing::cpu_devices;
using testing::kGoldenTolerance;
using testing::largest_difference;
using testing::Machine;
using testing::machines;
using testing::tiny_options;
using testing::tiny_pairs;
using testing::tiny_transformer_options;

constexpr int kSteps = 6;

enum class Architecture { rnn, transformer };

/// The model, in double.
std::shared_ptr<SequenceModel> make_model(Architecture architecture, SoftmaxKind softmax,
                                          RowGradients rows = RowGradients::sparse) {
  const auto with = [&](auto options) {
    options.softmax = softmax;
    options.row_gradients = rows;
    if (softmax == SoftmaxKind::full) options.label_smoothing = 0.1;
    return options;
  };
  std::shared_ptr<SequenceModel> model;
  if (architecture == Architecture::transformer) {
    model = std::make_shared<TransformerImpl>(with(tiny_transformer_options()));
  } else {
    Seq2SeqOptions options = with(tiny_options());
    options.bidirectional = true;
    model = std::make_shared<Seq2SeqImpl>(options);
  }
  model->to(torch::kDouble);
  return model;
}

at::Tensor loss_of(const std::shared_ptr<SequenceModel>& model, const SequenceBatch& batch) {
  const auto& options = model->tokens();
  const Candidates candidates =
      options.softmax == SoftmaxKind::full
          ? Candidates()
          : draw_candidates(options.target_vocabulary, options.samples, batch.step_seed);
  return model->loss(batch.source, batch.source_lengths, batch.target, candidates).loss;
}

/// The feeds of a step: 3, 1, 4, 1, … pairs, cut from one row of pairs that starts anew each step.
std::vector<std::vector<std::int64_t>> feeds_of(int towers, int step) {
  std::vector<std::vector<std::int64_t>> feeds;
  std::int64_t next = step * 17;
  for (int tower = 0; tower < towers; ++tower) {
    feeds.emplace_back();
    for (int i = 0; i < 1 + (tower + step) % 2 * 3; ++i) feeds.back().push_back(next++ % 64);
  }
  return feeds;
}

SequenceBatch batch_of(const PairStore& pairs, const std::vector<std::int64_t>& numbers, int step) {
  SequenceBatch batch = sequence_batch(pairs, numbers);
  batch.step_seed = static_cast<std::uint64_t>(step);
  return batch;
}

class GoldenSeq2SeqTest
    : public ::testing::TestWithParam<std::tuple<Architecture, SoftmaxKind, RowUpdate, Machine>> {};

INSTANTIATE_TEST_SUITE_P(
    All, GoldenSeq2SeqTest,
    ::testing::Combine(::testing::Values(Architecture::rnn, Architecture::transformer),
                       ::testing::Values(SoftmaxKind::full, SoftmaxKind::sampled),
                       ::testing::Values(RowUpdate::exact, RowUpdate::lazy),
                       ::testing::ValuesIn(machines())),
    [](const auto& info) {
      const bool rnn = std::get<0>(info.param) == Architecture::rnn;
      const bool full = std::get<1>(info.param) == SoftmaxKind::full;
      const bool exact = std::get<2>(info.param) == RowUpdate::exact;
      return std::string(rnn ? "rnn" : "transformer") + (full ? "_full" : "_sampled") +
             (exact ? "_exact_" : "_lazy_") + std::get<3>(info.param).name();
    });

TEST_P(GoldenSeq2SeqTest, TowersEqualOneTowerAndExactAdamEqualsLibTorch) {
  const auto& [architecture, softmax, rows, machine] = GetParam();
  const PairStore pairs = tiny_pairs(64);
  const auto make = [architecture = architecture, softmax = softmax] {
    return make_model(architecture, softmax);
  };
  auto towers = make_towers(machine.devices(), make, {.seed = 9});
  auto one = make_towers(cpu_devices(1), make, {.seed = 9});
  const auto plain = make_model(architecture, softmax, RowGradients::dense);
  copy_values(towers, *plain);
  const auto initial = copies(towers.master().trainable);

  // A Transformer's keys have biases whose gradient is 0 but for rounding; a usual epsilon would make
  // steps of it.
  const Adam adam{.learning_rate = 0.01, .epsilon = 1e-5};
  SyncStep step(towers, adam, {.max_grad_norm = 0.5, .rows = rows});
  SyncStep whole_step(one, adam, {.max_grad_norm = 0.5, .rows = rows});
  torch::optim::Adam reference(testing::trainable_of(*plain),
                               torch::optim::AdamOptions(0.01).eps(1e-5));
  for (int i = 0; i < kSteps; ++i) {
    std::vector<SequenceBatch> feeds;
    std::vector<std::int64_t> all;
    for (const auto& numbers : feeds_of(machine, i)) {
      feeds.push_back(batch_of(pairs, numbers, i));
      all.insert(all.end(), numbers.begin(), numbers.end());
    }
    const SequenceBatch whole = batch_of(pairs, all, i);
    const StepResult result = step.run(feeds, loss_of);
    EXPECT_EQ(result.weight, whole.tokens);
    EXPECT_NEAR(result.loss, whole_step.run(std::vector{whole}, loss_of).loss, kGoldenTolerance);

    reference.zero_grad();
    loss_of(plain, whole).backward();
    testing::clip_gradients(testing::trainable_of(*plain), 0.5);
    reference.step();
  }
  const auto trained = copies(towers.master().trainable);
  EXPECT_LT(largest_difference(trained, copies(one.master().trainable)), kGoldenTolerance);
  EXPECT_GT(largest_difference(trained, initial), 1e-2) << "nothing was learnt";
  const double from_libtorch = largest_difference(trained, testing::trainable_of(*plain));
  if (rows == RowUpdate::exact) {
    EXPECT_LT(from_libtorch, kGoldenTolerance);
  }
  // A single pair a step leaves many rows out, which then stay behind.
  if (rows == RowUpdate::lazy && machine == 1) {
    EXPECT_GT(from_libtorch, 1e-6);
  }
}

TEST(Seq2SeqEvaluationTest, IsTheMeanOverAllTokensForAnyNumberOfTowers) {
  const PairStore pairs = tiny_pairs(50);
  const auto evaluation_of = [&](const Machine& machine) {
    auto towers =
        make_towers(machine.devices(),
                    [] { return make_model(Architecture::rnn, SoftmaxKind::full); }, {.seed = 9});
    return evaluate(
        towers,
        SequenceBatches(pairs, machine.towers, {.plan = {.batch_size = 4, .shuffle = false}}),
        loss_of);
  };
  const Evaluation one = evaluation_of(1);
  double tokens = 0;
  for (std::int64_t i = 0; i < 50; ++i) {
    tokens += static_cast<double>(pairs.targets[i].size()) + 1;
  }
  EXPECT_EQ(one.weight, tokens);
  for (const Machine& machine : {Machine(2), Machine(3), Machine(3, testing::kCardKind)})
    EXPECT_NEAR(evaluation_of(machine).loss, one.loss, 1e-12) << machine.name();
}

}  // namespace sync_step_golden_seq2seq_test
}  // namespace pagoda
