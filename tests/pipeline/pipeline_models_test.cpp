// LeNet-5 and the seq2seq model on towers of stages equal one device.

#include <pagoda/models/lenet5.h>
#include <pagoda/models/sequence_model.h>
#include <pagoda/pipeline/pipeline_step.h>
#include <pagoda/text/sequence_batches.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/golden.h"
#include "support/staged_models.h"
#include "support/tiny_translation.h"

namespace pagoda {
namespace pipeline_models_test {

using testing::copies;
using testing::in_double;
using testing::kGoldenTolerance;
using testing::kSchedules;
using testing::largest_difference;
using testing::Machine;
using testing::schedule_name;
using testing::tiny_options;
using testing::tiny_pairs;

std::vector<std::string> names(const TowerGroup& towers) {
  std::vector<std::string> all;
  for (const auto& entry : towers.master().trainable) all.push_back(entry.name);
  return all;
}

/// The same steps on stages and on one device; `feeds(step)` gives those of two towers.
template <class MakeModel, class MakeFeeds, class Inputs, class StagedLoss, class Loss>
void expect_equals_one_device(MakeModel make, const StageOptions& cut, MakeFeeds feeds,
                              Inputs inputs, StagedLoss staged_loss, Loss loss) {
  for (const DeviceKind kind : {DeviceKind::cpu, testing::kCardKind}) {
    for (const auto schedule : kSchedules) {
      SCOPED_TRACE(std::string(kind_name(kind)) + " " + schedule_name(schedule));
      auto towers =
          make_staged_towers(Machine(2 * cut.stages, kind).devices(), make, cut, {.seed = 9});
      auto one = make_towers(Machine(1).devices(), make, {.seed = 9});
      EXPECT_EQ(names(towers), names(one));
      const auto initial = copies(one.master().trainable);
      const StepOptions options{.max_grad_norm = 0.5, .moving_average = MovingAverage{}};
      // A Transformer's keys have biases whose gradient is 0 but for rounding; a usual epsilon would
      // make steps of it.
      const Adam adam{.learning_rate = 0.01, .epsilon = 1e-5};
      PipelineStep step(towers, adam, options, {.schedule = schedule});
      SyncStep whole_step(one, adam, options);
      for (int i = 0; i < 3; ++i) {
        const double expected = whole_step.run(feeds(i), loss).loss;
        EXPECT_NEAR(step.run(feeds(i), inputs, staged_loss).loss, expected, kGoldenTolerance);
      }
      const auto trained = copies(towers.master().trainable);
      EXPECT_LT(largest_difference(trained, copies(one.master().trainable)), kGoldenTolerance);
      EXPECT_GT(largest_difference(trained, initial), 1e-2);
    }
  }
}

TEST(PipelineModelsTest, LeNet5) {
  const auto entropy = [](const at::Tensor& logits, const Batch& batch) {
    return torch::nn::functional::cross_entropy(logits, batch.target);
  };
  expect_equals_one_device(
      [] { return in_double(LeNet5(LeNet5Options{.image_size = 8})); },
      {.stages = 2, .layers_per_stage = {1, 3}},
      [](int step) {
        std::vector<Batch> feeds;
        for (int i = 0; i < 5; ++i) {
          feeds.push_back({.input = testing::waves({3, 3, 8, 8}, 15 * step + 3 * i, 0.7),
                           .target = torch::tensor({i, 9 - i, (step + i) % 10}, torch::kLong)});
        }
        return feeds;
      },
      testing::BatchInput(),
      [&](LeNet5&, const Tensors& outputs, const Batch& batch) {
        return entropy(outputs[0], batch);
      },
      [&](LeNet5& model, const Batch& batch) { return entropy(model(batch.input), batch); });
}

struct Variant {
  std::string name;
  std::function<std::shared_ptr<SequenceModel>()> make;
  std::vector<int> layers;
  OutputPlace output = OutputPlace::last_stage;
};

std::vector<Variant> variants() {
  const auto rnn = [](const std::function<void(Seq2SeqOptions&)>& change) {
    return testing::tiny_model<Seq2SeqImpl>("", 0, tiny_options(), change).make;
  };
  const auto transformer = [](const std::function<void(TransformerOptions&)>& change) {
    return testing::tiny_model<TransformerImpl>("", 0, testing::tiny_transformer_options(), change)
        .make;
  };
  std::vector<Variant> all{
      {"full",
       rnn([](Seq2SeqOptions& o) { o.label_smoothing = 0.1, o.bidirectional = true; }),
       {2, 3}},
      {"sampled_gru",
       rnn([](Seq2SeqOptions& o) { o.softmax = SoftmaxKind::sampled, o.cell = Cell::gru; }),
       {3, 2}},
      {"input_feeding", rnn([](Seq2SeqOptions& o) { o.input_feeding = true; }), {1, 2}},
      {"tied_output", rnn([](Seq2SeqOptions& o) { o.tied = TiedEmbeddings::output; }), {2, 1}},
      {"transformer", transformer([](TransformerOptions& o) { o.label_smoothing = 0.1; }), {2, 3}},
      {"transformer_sampled",
       transformer([](TransformerOptions& o) {
         o.softmax = SoftmaxKind::sampled, o.positions = Positions::learnt;
       }),
       {1, 4}},
      {"transformer_tied_output",
       transformer([](TransformerOptions& o) { o.tied = TiedEmbeddings::output; }),
       {1, 2}}};
  const std::size_t count = all.size();
  for (std::size_t i = 0; i < count; ++i) {
    all.push_back(all[i]);
    all.back().name += "_output_on_every_stage";
    all.back().output = OutputPlace::every_stage;
  }
  return all;
}

class PipelineSeq2SeqTest : public ::testing::TestWithParam<Variant> {};

INSTANTIATE_TEST_SUITE_P(Variants, PipelineSeq2SeqTest, ::testing::ValuesIn(variants()),
                         [](const auto& info) { return info.param.name; });

TEST_P(PipelineSeq2SeqTest, EqualsOneDevice) {
  const PairStore pairs = tiny_pairs(64);
  const auto candidates = [](const std::shared_ptr<SequenceModel>& model,
                             const SequenceBatch& batch) {
    const auto& options = model->tokens();
    if (options.softmax == SoftmaxKind::full) return Candidates();
    return draw_candidates(options.target_vocabulary, options.samples, batch.step_seed);
  };
  expect_equals_one_device(
      [] { return in_double(GetParam().make()); },
      {.stages = static_cast<int>(GetParam().layers.size()),
       .layers_per_stage = GetParam().layers,
       .output = GetParam().output},
      [&](int step) {
        std::vector<SequenceBatch> feeds;
        for (int i = 0; i < 6; ++i) {
          std::vector<std::int64_t> numbers;
          for (int k = 0; k <= i % 3; ++k) numbers.push_back((17 * step + 5 * i + k) % 64);
          feeds.push_back(sequence_batch(pairs, numbers));
          feeds.back().step_seed = static_cast<std::uint64_t>(step);
        }
        return feeds;
      },
      [](const SequenceBatch& batch) -> Tensors {
        return {batch.source, batch.source_lengths, batch.target};
      },
      [&](const std::shared_ptr<SequenceModel>& model, const Tensors& outputs,
          const SequenceBatch& batch) {
        return model->softmax(outputs, candidates(model, batch)).loss;
      },
      [&](const std::shared_ptr<SequenceModel>& model, const SequenceBatch& batch) {
        return model
            ->loss(batch.source, batch.source_lengths, batch.target, candidates(model, batch))
            .loss;
      });
}

}  // namespace pipeline_models_test
}  // namespace pagoda
