#include <pagoda/base/error.h>
#include <pagoda/optim/updater.h>
#include <pagoda/train/averaged_parameters.h>
#include <pagoda/train/load.h>
#include <pagoda/train/save.h>
#include <pagoda/train/sync_step.h>

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "support/machines.h"
#include "support/scratch_directory.h"
#include "support/small_models.h"
#include "support/tower_fixtures.h"

namespace pagoda {
namespace load_test {

using testing::all_equal;
using testing::MeanSquare;
using testing::Noisy;
using testing::PlacedMachine;
using testing::ScratchDirectory;

std::vector<at::Tensor> tensors_of(const torch::nn::Module& module) {
  std::vector<at::Tensor> tensors;
  for (const auto& tensor : module.parameters()) tensors.push_back(tensor.detach().to(at::kCPU));
  for (const auto& tensor : module.buffers()) tensors.push_back(tensor.to(at::kCPU));
  return tensors;
}

std::vector<at::Tensor> parameters_of(const torch::nn::Module& module) {
  std::vector<at::Tensor> tensors;
  for (const auto& tensor : module.parameters()) tensors.push_back(tensor.detach());
  return tensors;
}

/// A file of parameters and statistics that no initial values are.
Noisy saved_in(const std::filesystem::path& path) {
  Noisy model;
  torch::NoGradGuard no_grad;
  for (const auto& tensor : model->parameters()) tensor.add_(1);
  for (const auto& tensor : model->buffers()) tensor.add_(2);
  save_state_dict(*model, path);
  return model;
}

class LoadTest : public ::testing::TestWithParam<PlacedMachine> {
 protected:
  Towers<Noisy> towers() const {
    return make_towers(GetParam().machine.devices(), [] { return Noisy(); },
                       {.placement = GetParam().placement});
  }

  static void expect_everywhere(const Towers<Noisy>& towers, const Noisy& model) {
    for (int tower = 0; tower < towers.size(); ++tower)
      EXPECT_TRUE(all_equal(tensors_of(towers.module(tower)), tensors_of(*model))) << tower;
  }

  const ScratchDirectory scratch_;
  const Noisy model_ = saved_in(scratch_ / "model.pt");
};
INSTANTIATE_TEST_SUITE_P(Towers, LoadTest, ::testing::ValuesIn(testing::few_placed_machines()),
                         [](const auto& info) { return ::testing::PrintToString(info.param); });

TEST_P(LoadTest, EveryTowerHasTheParametersAndTheBuffersOfTheFile) {
  auto group = towers();
  load(group, scratch_ / "model.pt");
  expect_everywhere(group, model_);
}

TEST_P(LoadTest, AStepThatIsThereBeginsItsAverageWithThem) {
  auto group = towers();
  SyncStep step(group, Adam{}, {.moving_average = MovingAverage{.decay = 0.5}});
  load(group, step, scratch_ / "model.pt");
  expect_everywhere(group, model_);
  EXPECT_TRUE(all_equal(step.updater().averages(), parameters_of(*model_)));
}

TEST(LoadTest, AStepAfterwardsIsThatOfATowerThatWasBuiltWithTheWeights) {
  const ScratchDirectory scratch;
  const Noisy model = saved_in(scratch / "model.pt");
  const StepOptions options{.moving_average = MovingAverage{.decay = 0.5}};
  const auto run = [](auto& step) {
    step.run(testing::feeds_of(testing::vector_feed, {4, 3}, 0), MeanSquare{});
  };
  auto before = make_towers(testing::cpu_devices(2), [] { return Noisy(); });
  load(before, scratch / "model.pt");
  SyncStep made_after(before, Adam{}, options);
  run(made_after);
  auto behind = make_towers(testing::cpu_devices(2), [] { return Noisy(); });
  SyncStep made_before(behind, Adam{}, options);
  load(behind, made_before, scratch / "model.pt");
  run(made_before);
  for (int tower = 0; tower < 2; ++tower)
    EXPECT_TRUE(all_equal(tensors_of(before.module(tower)), tensors_of(behind.module(tower))));
  EXPECT_TRUE(all_equal(made_before.updater().averages(), made_after.updater().averages()));
}

TEST(LoadTest, AFileThatDoesNotFitAndAveragesThatStandInAreRefusedAndNothingIsChanged) {
  const ScratchDirectory scratch;
  saved_in(scratch / "model.pt");
  save_state_dict(*testing::Mlp(), scratch / "other.pt");
  auto towers = make_towers(testing::cpu_devices(2), [] { return Noisy(); });
  SyncStep step(towers, Sgd{}, {.moving_average = MovingAverage{.decay = 0.5}});
  const auto clones = [&] {
    std::vector<at::Tensor> copies;
    for (const auto& tensor : tensors_of(towers.module(1))) copies.push_back(tensor.clone());
    return copies;
  };
  const auto before = clones();
  EXPECT_THROW(load(towers, step, scratch / "other.pt"), DataError);
  EXPECT_THROW(load(towers, step, scratch / "none.pt"), IoError);
  {
    const AveragedParameters averaged(towers, step);
    EXPECT_THROW(load(towers, scratch / "model.pt"), UsageError);
  }
  EXPECT_TRUE(all_equal(clones(), before));
}

}  // namespace load_test
}  // namespace pagoda
