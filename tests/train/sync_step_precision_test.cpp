// Steps of towers that compute in 16 bits.

#include <pagoda/base/error.h>
#include <pagoda/models/lenet5.h>
#include <pagoda/models/seq2seq.h>
#include <pagoda/models/transformer.h>
#include <pagoda/text/sequence_batches.h>
#include <pagoda/train/evaluate.h>
#include <pagoda/train/sync_step.h>

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/golden.h"
#include "support/tiny_translation.h"

namespace pagoda {
namespace sync_step_precision_test {

using testing::copies;
using testing::cpu_devices;
using testing::feeds_of;
using testing::Machine;
using testing::MeanSquare;
using testing::Mlp;
using testing::Noisy;
using testing::vector_feed;

TEST(PrecisionStepTest, CardsSumIn16BitsWhereTheWireSaysSo) {
  const auto trained = [](WireType wire) {
    auto towers = make_towers(Machine(3, DeviceKind::sim).devices(), [] { return Noisy(); },
                              {.seed = 3, .placement = ParameterPlacement::mirrored});
    SyncStep step(towers, Sgd{.learning_rate = 0.1}, {.wire = wire});
    for (int i = 0; i < 2; ++i) step.run(feeds_of(vector_feed, {3, 2, 3}, i), MeanSquare());
    return copies(towers.master().trainable);
  };
  const double apart =
      testing::largest_difference(trained(WireType::bf16), trained(WireType::fp32));
  EXPECT_GT(apart, 1e-7);
  EXPECT_LT(apart, 1e-2);
  EXPECT_THROW(trained(WireType::fp16), UsageError);
}

TEST(PrecisionStepTest, EvaluationComputesInIt) {
  for (const Machine& machine : {Machine(2), Machine(2, DeviceKind::sim)}) {
    auto towers =
        make_towers(machine.devices(), [] { return Mlp(); }, {.precision = Precision::bf16});
    const Evaluation found = detail::evaluate_feeds(
        towers, {1, 1}, [models = towers.typed_replicas()](std::size_t, int tower) mutable {
          auto model = models.model(tower);
          const at::Tensor x = at::ones({2, testing::kInputs}, model->hidden->weight.options());
          return Scored{.loss =
                            (model->forward(x).scalar_type() == at::kBFloat16 ? at::ones({1})
                                                                              : at::zeros({1}))};
        });
    EXPECT_EQ(found.loss, 1) << machine.name();
  }
}

TEST(PrecisionStepTest, TrainingIn16BitsComesAsFarAsInFp32) {
  double first = 0;
  std::vector<double> losses;
  for (const Precision precision : {Precision::fp32, Precision::bf16, Precision::fp16}) {
    auto towers =
        make_towers(cpu_devices(2), [] { return Mlp(); }, {.seed = 3, .precision = precision});
    SyncStep step(towers, Adam{.learning_rate = 0.05});
    StepResult result;
    for (int i = 0; i < 80; ++i) {
      result = step.run(feeds_of(vector_feed, {4, 4}, 0), [](Mlp& model, const Batch& batch) {
        return torch::mse_loss(model->forward(batch.input.to(at::kFloat)).to(at::kFloat),
                               batch.target.to(at::kFloat));
      });
      if (i == 0) first = result.loss;
    }
    losses.push_back(result.loss);
  }
  EXPECT_LT(losses[0], 0.2 * first);
  EXPECT_NEAR(losses[1], losses[0], 0.05 * first);
  EXPECT_NEAR(losses[2], losses[0], 0.01 * first);
}

/// How far two trainings are from each other, as a part of how far the first has come.
double relative_difference(const std::vector<at::Tensor>& initial,
                           const std::vector<at::Tensor>& one,
                           const std::vector<at::Tensor>& other) {
  double apart = 0;
  double way = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    apart += (one[i] - other[i]).square().sum().item<double>();
    way += (one[i] - initial[i]).square().sum().item<double>();
  }
  return std::sqrt(apart / way);
}

struct Trained {
  std::vector<at::Tensor> initial, end;
};

template <class Model, class F, class Loss>
Trained trained(Towers<Model>& towers, const std::vector<std::vector<F>>& steps, Loss loss) {
  const auto initial = copies(towers.master().trainable);
  SyncStep step(towers, Sgd{.learning_rate = 0.1});
  for (const auto& feeds : steps) EXPECT_FALSE(step.run(feeds, loss).skipped);
  return {initial, copies(towers.master().trainable)};
}

/// How far rounding may lead.
struct Rounding {
  double bf16, fp16;
};

/// Expects that several towers come to what one does, to the precision's rounding, and that the
/// precision was really used.
template <class MakeModel, class F, class Loss>
void expect_towers_equal_one(const Rounding& roundings, MakeModel make,
                             const std::vector<std::vector<F>>& feeds,
                             const std::vector<std::vector<F>>& joined, Loss loss) {
  auto exact_towers = make_towers(cpu_devices(1), make, {.seed = 5});
  const Trained exact = trained(exact_towers, joined, loss);
  for (const auto& [precision, rounding] :
       {std::pair(Precision::bf16, roundings.bf16), std::pair(Precision::fp16, roundings.fp16)}) {
    const TowerOptions options{.seed = 5, .precision = precision};
    auto one_tower = make_towers(cpu_devices(1), make, options);
    const Trained one = trained(one_tower, joined, loss);
    for (const Machine& machine : {Machine(3), Machine(2, DeviceKind::sim)}) {
      SCOPED_TRACE(std::string(precision_name(precision)) + " " + machine.name());
      auto towers = make_towers(machine.devices(), make, options);
      const Trained several = trained(towers, feeds, loss);
      EXPECT_LT(relative_difference(one.initial, one.end, several.end), rounding);
      const double from_fp32 = relative_difference(exact.initial, exact.end, several.end);
      EXPECT_LT(from_fp32, rounding);
      EXPECT_GT(from_fp32, rounding / 50) << "it was computed in fp32";
    }
  }
}

TEST(PrecisionGoldenTest, TowersOfLeNet5EqualOneInBf16AndFp16) {
  const auto feed = [](std::int64_t samples, std::int64_t first) {
    const at::Tensor numbers = at::arange(first * 192, (first + samples) * 192, at::kFloat);
    return Batch{.input = (numbers * 0.37).sin().view({samples, 3, 8, 8}),
                 .target = at::arange(first, first + samples, at::kLong) % 10,
                 .samples = std::vector<std::int64_t>(static_cast<std::size_t>(samples))};
  };
  std::vector<std::vector<Batch>> feeds, joined;
  for (std::int64_t step = 0; step < 2; ++step) {
    const std::int64_t first = step * 12;
    feeds.push_back({feed(4, first), feed(3, first + 4), feed(5, first + 7)});
    joined.push_back({feed(12, first)});
  }
  // Where rounding turns a relu or another maximum of a pool over, a whole part of the gradient turns:
  // the difference falls with the square root of the rounding.
  expect_towers_equal_one(
      {.bf16 = 0.15, .fp16 = 0.05},
      [] { return LeNet5(LeNet5Options{.image_size = 8, .dropout = 0}); }, feeds, joined,
      [](LeNet5& model, const Batch& batch) {
        return torch::nn::functional::cross_entropy(model(batch.input), batch.target);
      });
}

/// Two steps of sequences for three towers, and the same for one.
struct SequenceFeeds {
  SequenceFeeds() {
    const PairStore pairs = testing::tiny_pairs(64);
    const auto batch = [&](std::int64_t first, std::int64_t end) {
      SequenceBatch made = sequence_batch(pairs, testing::sample_numbers(first, end - first));
      made.step_seed = 3;
      return made;
    };
    for (std::int64_t first : {0, 20}) {
      feeds.push_back(
          {batch(first, first + 9), batch(first + 9, first + 13), batch(first + 13, first + 20)});
      joined.push_back({batch(first, first + 20)});
    }
  }

  std::vector<std::vector<SequenceBatch>> feeds, joined;
};

template <class Model, class Options>
void expect_sequence_towers_equal_one(const Rounding& roundings, const Options& options) {
  const SequenceFeeds sequences;
  expect_towers_equal_one(
      roundings, [options] { return Model(options); }, sequences.feeds, sequences.joined,
      [](Model& model, const SequenceBatch& feed) {
        return model
            ->loss(feed.source, feed.source_lengths, feed.target,
                   draw_candidates(testing::kTinyVocabulary, 7, feed.step_seed))
            .loss;
      });
}

TEST(PrecisionGoldenTest, TowersOfSeq2SeqEqualOneInBf16AndFp16) {
  for (const SoftmaxKind softmax : {SoftmaxKind::full, SoftmaxKind::sampled}) {
    for (const Cell cell : {Cell::lstm, Cell::gru}) {
      Seq2SeqOptions options = testing::tiny_options();
      options.softmax = softmax;
      options.cell = cell;
      options.bidirectional = true;
      expect_sequence_towers_equal_one<Seq2Seq>({.bf16 = 0.03, .fp16 = 0.004}, options);
    }
  }
}

TEST(PrecisionGoldenTest, TowersOfTransformersEqualOneInBf16AndFp16) {
  for (const SoftmaxKind softmax : {SoftmaxKind::full, SoftmaxKind::sampled}) {
    for (const NormPlace norm : {NormPlace::before, NormPlace::after}) {
      TransformerOptions options = testing::tiny_transformer_options();
      options.softmax = softmax;
      options.norm = norm;
      expect_sequence_towers_equal_one<Transformer>({.bf16 = 0.05, .fp16 = 0.007}, options);
    }
  }
}

}  // namespace sync_step_precision_test
}  // namespace pagoda
