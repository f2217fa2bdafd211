#include <pagoda/train/averaged_parameters.h>
#include <pagoda/train/save.h>
#include <pagoda/train/sync_step.h>

#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "support/formula_data.h"
#include "support/machines.h"
#include "support/scratch_directory.h"
#include "support/small_models.h"
#include "support/tower_fixtures.h"

namespace pagoda {
namespace save_test {

using testing::all_equal;
using testing::cpu_devices;
using testing::Images;
using testing::in_double;
using testing::MeanSquare;
using testing::Noisy;
using testing::ScratchDirectory;

std::vector<at::Tensor> tensors_of(const torch::nn::Module& module) {
  std::vector<at::Tensor> tensors;
  for (const auto& tensor : module.parameters()) tensors.push_back(tensor.detach());
  for (const auto& tensor : module.buffers()) tensors.push_back(tensor);
  return tensors;
}

/// Parameters: towers, placement.
class SaveTest : public ::testing::TestWithParam<std::tuple<int, ParameterPlacement>> {
 protected:
  template <class MakeModel>
  auto towers(MakeModel make_model) const {
    const auto [count, placement] = GetParam();
    return make_towers(cpu_devices(count), make_model, {.seed = 3, .placement = placement});
  }
};
INSTANTIATE_TEST_SUITE_P(TowersAndPlacement, SaveTest,
                         ::testing::Combine(::testing::Values(1, 3),
                                            ::testing::ValuesIn(kEveryPlacement)));

TEST_P(SaveTest, ATrainedModelLoadsOnOneDevice) {
  const ScratchDirectory scratch;
  auto group = towers([] { return in_double(Images()); });
  SyncStep step(group, Sgd{.learning_rate = 0.1}, {.moving_average = MovingAverage{.decay = 0.5}});
  const auto feeds = testing::feeds_of(testing::image_feed, {4, 3, 2}, 0);
  for (int i = 0; i < 2; ++i) step.run(feeds, MeanSquare{});
  save(group, scratch / "model.pt");
  {
    const AveragedParameters averaged(group, step);
    save(group, scratch / "average.pt");
  }

  Images plain = in_double(Images());
  load_state_dict(*plain, scratch / "model.pt");
  EXPECT_TRUE(all_equal(tensors_of(*plain), tensors_of(group.module(0))));
  const at::Tensor images = testing::image_feed(0, 5).input;
  at::Tensor output;
  group.run({.name = "forward"}, [&](TowerJob& job) {
    if (job.tower == 0) output = group.model(0)(group.on_tower(images, 0));
  });
  EXPECT_LT((plain(images) - output).abs().max().item<double>(), 1e-12);

  load_state_dict(*plain, scratch / "average.pt");
  EXPECT_TRUE(all_equal(tensors_of(*plain), step.updater().averages()));
}

TEST_P(SaveTest, BuffersAreSavedWithTheParameters) {
  const ScratchDirectory scratch;
  auto group = towers([] { return Noisy(); });
  SyncStep step(group, Sgd{.learning_rate = 0.1});
  step.run(testing::feeds_of(testing::vector_feed, {4, 3, 2}, 0), MeanSquare{});
  save(group, scratch / "model.pt");
  Noisy plain;
  ASSERT_FALSE(all_equal(tensors_of(*plain), tensors_of(group.module(0))));
  load_state_dict(*plain, scratch / "model.pt");
  EXPECT_TRUE(all_equal(tensors_of(*plain), tensors_of(group.module(0))));
}

}  // namespace save_test
}  // namespace pagoda
