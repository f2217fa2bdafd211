// N towers equal one device for every kind of model, with shared and with copied parameters.

#include <pagoda/train/sync_step.h>

#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include "support/golden.h"

namespace pagoda {
namespace sync_step_golden_models_test {

using testing::all_optimizers;
using testing::Branching;
using testing::expect_equals_plain_training;
using testing::feeds_of;
using testing::GoldenRun;
using testing::HalfFrozen;
using testing::image_feed;
using testing::Images;
using testing::in_double;
using testing::MeanSquare;
using testing::placed_machines;
using testing::PlacedMachine;
using testing::Tied;
using testing::vector_feed;
using testing::word_feed;
using testing::Words;

class GoldenModelTest : public ::testing::TestWithParam<PlacedMachine> {
 protected:
  GoldenRun run() const {
    return {.towers = GetParam().machine, .tower = {.placement = GetParam().placement}};
  }
};

INSTANTIATE_TEST_SUITE_P(Towers, GoldenModelTest, ::testing::ValuesIn(placed_machines()),
                         [](const auto& info) { return ::testing::PrintToString(info.param); });

TEST_P(GoldenModelTest, TiedParameters) {
  expect_equals_plain_training(run(), [] { return in_double(Tied()); });
}

TEST_P(GoldenModelTest, FrozenParameters) {
  expect_equals_plain_training(run(), [] { return in_double(HalfFrozen()); });
}

TEST_P(GoldenModelTest, FrozenParametersStayAsTheyAre) {
  auto towers = make_towers(
      run().towers.devices(), [] { return HalfFrozen(); }, run().tower);
  const at::Tensor before = towers.master().frozen[0].tensor.clone();
  SyncStep step(towers, AdamW{}, {.l2 = 0.5});
  for (int i = 0; i < 2; ++i)
    step.run(feeds_of(vector_feed, {3, 3, 3}, i), [](auto& model, const Batch& batch) {
      return model->forward(batch.input.to(torch::kFloat)).square().mean();
    });
  EXPECT_TRUE(towers.master().frozen[0].tensor.equal(before));
}

TEST_P(GoldenModelTest, ParametersThatSomeOrNoTowersUse) {
  expect_equals_plain_training(run(), [] { return in_double(Branching()); });
}

TEST_P(GoldenModelTest, ImagesInBothLayouts) {
  for (const ImageFormat format : {ImageFormat::channels_last, ImageFormat::contiguous}) {
    GoldenRun images = run();
    images.tower.image_format = format;
    images.make_feed = image_feed;
    expect_equals_plain_training(images, [] { return in_double(Images()); });
  }
}

TEST_P(GoldenModelTest, RowGradientsWithEveryOptimizer) {
  for (const auto& [name, optimizer] : all_optimizers()) {
    SCOPED_TRACE(name);
    GoldenRun words = run();
    words.optimizer = optimizer;
    words.make_feed = word_feed;
    words.step.moving_average = {.decay = 0.9};
    expect_equals_plain_training(
        words, [] { return in_double(Words(true)); }, [] { return in_double(Words(false)); });
  }
}

TEST_P(GoldenModelTest, RowGradientsWithClippingL2AndAccumulation) {
  GoldenRun words = run();
  words.optimizer = Sgd{.learning_rate = 0.5, .momentum = 0.9};
  words.make_feed = word_feed;
  words.feed_sizes = {3, 1, 4, 1, 5, 2};
  words.step = {.max_grad_norm = 0.1, .l2 = 0.2};
  expect_equals_plain_training(
      words, [] { return in_double(Words(true)); }, [] { return in_double(Words(false)); });
}

}  // namespace sync_step_golden_models_test
}  // namespace pagoda
