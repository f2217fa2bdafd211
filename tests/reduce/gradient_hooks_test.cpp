#include "reduce/gradient_hooks.h"

#include <pagoda/tower/tower_group.h>

#include <memory>
#include <vector>

#include <gtest/gtest.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>
#include <torch/torch.h>

#include "support/small_models.h"
#include "support/tower_fixtures.h"

namespace pagoda {
namespace gradient_hooks_test {

struct Counting final : torch::autograd::PostAccumulateGradHook {
  explicit Counting(int& count) : count(count) {}
  void operator()(const torch::autograd::Variable&) override { ++count; }
  int& count;
};

void run_backward(TowerGroup& towers) {
  towers.run({.name = "test"}, [&](TowerJob& job) {
    auto& model = dynamic_cast<testing::MlpImpl&>(towers.module(job.tower));
    model.forward(torch::ones({2, testing::kInputs})).sum().backward();
  });
}

TEST(GradientHooksTest, TellsOfEveryGradientAndCallsTheUsersHookToo) {
  TowerGroup towers(testing::cpu_devices(2), testing::make_module<testing::MlpImpl>);
  const auto& parameters = towers.replicas()->table(0).trainable;
  int users = 0;
  torch::autograd::impl::set_post_acc_grad_hooks(parameters[0].tensor,
                                                 std::make_unique<Counting>(users));
  std::vector<std::vector<int>> ready(2, std::vector<int>(parameters.size()));
  {
    const GradientHooks hooks(towers.replicas(), [&](int tower, std::size_t parameter) {
      ++ready[static_cast<std::size_t>(tower)][parameter];
    });
    run_backward(towers);
    EXPECT_EQ(ready, std::vector(2, std::vector<int>(parameters.size(), 1)));
    EXPECT_EQ(users, 1);
  }
  run_backward(towers);  // the user's is in its place again, ours are gone
  EXPECT_EQ(users, 2);
  EXPECT_EQ(ready, std::vector(2, std::vector<int>(parameters.size(), 1)));
}

TEST(GradientHooksTest, ThoseOfTwoStepsEndInAnyOrder) {
  for (const int first_to_end : {0, 1, 2}) {
    TowerGroup towers(testing::cpu_devices(1), testing::make_module<testing::MlpImpl>);
    const auto& parameters = towers.replicas()->table(0).trainable;
    const int each = static_cast<int>(parameters.size());
    int users = 0;
    torch::autograd::impl::set_post_acc_grad_hooks(parameters[0].tensor,
                                                   std::make_unique<Counting>(users));
    std::vector<int> counts(3);
    std::vector<std::unique_ptr<GradientHooks>> hooks;
    for (int& count : counts) {
      hooks.push_back(
          std::make_unique<GradientHooks>(towers.replicas(), [&](int, std::size_t) { ++count; }));
    }
    std::vector<int> expected(3);
    for (int i = 0; i < 3; ++i) {
      const auto ended = static_cast<std::size_t>((first_to_end + i) % 3);
      hooks[ended].reset();
      run_backward(towers);
      for (std::size_t j = 0; j < 3; ++j) expected[j] += hooks[j] ? each : 0;
      EXPECT_EQ(counts, expected);
      EXPECT_EQ(users, i + 1);
    }
  }
}

TEST(GradientHooksTest, AHookThatTheUserSetMeanwhileStays) {
  TowerGroup towers(testing::cpu_devices(1), testing::make_module<testing::MlpImpl>);
  int users = 0;
  {
    const GradientHooks hooks(towers.replicas(), [](int, std::size_t) {});
    torch::autograd::impl::set_post_acc_grad_hooks(towers.replicas()->table(0).trainable[0].tensor,
                                                   std::make_unique<Counting>(users));
  }
  run_backward(towers);
  EXPECT_EQ(users, 1);
}

}  // namespace gradient_hooks_test
}  // namespace pagoda
