// What only cards show: the numbers of CPU towers, a card that fails, memory that ends.

#include <pagoda/base/error.h>
#include <pagoda/memory/memory_account.h>
#include <pagoda/models/lenet5.h>
#include <pagoda/tower/tower_error.h>
#include <pagoda/train/sync_step.h>

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/sim_card.h"
#include "support/golden.h"
#include "support/training_bits.h"

namespace pagoda {
namespace sync_step_sim_test {

using testing::feeds_of;
using testing::in_double;
using testing::Machine;
using testing::MeanSquare;
using testing::Mlp;
using testing::OtherSimMachine;
using testing::thrown_by;
using testing::vector_feed;

constexpr int kTowers = 3;

Batch lenet_feed(std::int64_t first, std::int64_t count) {
  return {.input = testing::waves({count, 3, 28, 28}, first, 0.7).to(torch::kFloat),
          .target = torch::arange(first, first + count, torch::kLong).remainder(10),
          .samples = testing::sample_numbers(first, count)};
}

struct Trained {
  std::vector<double> losses;
  std::vector<at::Tensor> parameters;
};

Trained train_lenet5(const std::vector<Device>& devices, int steps = 4) {
  auto towers = make_towers(devices, [] { return LeNet5(LeNet5Options{.dropout = 0.3}); },
                            {.seed = 5, .placement = ParameterPlacement::host});
  SyncStep step(towers, Adam{.learning_rate = 1e-3}, {.max_grad_norm = 5, .l2 = 1e-4});
  Trained trained;
  for (int i = 0; i < steps; ++i) {
    const std::vector<std::int64_t> sizes(devices.size(), 4);
    const auto result =
        step.run(feeds_of(lenet_feed, sizes, i), [](LeNet5& model, const Batch& batch) {
          return torch::nn::functional::cross_entropy(model(batch.input), batch.target);
        });
    trained.losses.push_back(result.loss);
  }
  trained.parameters = testing::copies(towers.master().trainable);
  return trained;
}

class SimTrainingTest : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Cards, SimTrainingTest, ::testing::Values(1, 2, 3, 4));

TEST_P(SimTrainingTest, LeNet5WithDropoutLearnsWhatCpuTowersLearn) {
  const Trained cards = train_lenet5(Machine(GetParam(), testing::kCardKind).devices());
  const Trained cpus = train_lenet5(Machine(GetParam()).devices());
  EXPECT_EQ(cards.losses, cpus.losses);
  EXPECT_TRUE(testing::all_equal(cards.parameters, cpus.parameters));
}

/// Tanh layer and dropout with an awkward rate.
struct DroppingImpl : torch::nn::Module {
  at::Tensor forward(const at::Tensor& x) { return output(dropout(torch::tanh(hidden(x)))); }

  torch::nn::Linear hidden = register_module("hidden", torch::nn::Linear(testing::kInputs, 50));
  torch::nn::Dropout dropout = register_module("dropout", torch::nn::Dropout(0.3));
  torch::nn::Linear output = register_module("output", torch::nn::Linear(50, testing::kOutputs));
};
TORCH_MODULE(Dropping);

TEST_P(SimTrainingTest, DropoutDrawsTheMasksOfCpuTowers) {
  const auto losses = [](const std::vector<Device>& devices) {
    auto towers = make_towers(devices, [] { return in_double(Dropping()); }, {.seed = 9});
    SyncStep step(towers, Sgd{.learning_rate = 0.1});
    std::vector<double> all;
    for (int i = 0; i < 5; ++i) {
      const std::vector<std::int64_t> sizes(devices.size(), 3);
      for (double loss : step.run(feeds_of(vector_feed, sizes, i), MeanSquare()).tower_losses)
        all.push_back(loss);
    }
    return all;
  };
  EXPECT_EQ(losses(Machine(GetParam(), testing::kCardKind).devices()),
            losses(Machine(GetParam()).devices()));
}

StepResult one_step(SyncStep<Mlp>& step) {
  return step.run(feeds_of(vector_feed, {2, 2, 2}, static_cast<int>(step.count())), MeanSquare());
}

TEST(SimStepTest, ACardThatFailsIsNamedWithItsStepAndTheNextRunWorks) {
  PAGODA_NEEDS_SIMULATED_CARDS();
  for (int bad = 0; bad < kTowers; ++bad) {
    const OtherSimMachine machine(kTowers, {.single_cards = {{bad, {.fail_at_step = 2}}}});
    auto towers = make_towers(machine.devices(), [] { return in_double(Mlp()); });
    SyncStep step(towers, Adam{});
    one_step(step);
    one_step(step);
    const auto error = thrown_by<TowerError>([&] { one_step(step); });
    ASSERT_TRUE(error) << bad;
    EXPECT_EQ(error->tower(), bad);
    EXPECT_EQ(error->device(), "sim:" + std::to_string(bad));
    EXPECT_EQ(error->step(), 2);
    EXPECT_THROW(std::rethrow_exception(error->cause()), DeviceError);
    EXPECT_EQ(one_step(step).step, 2) << "the step can be tried again";

    auto again = make_towers(machine.devices(), [] { return in_double(Mlp()); });
    SyncStep second_run(again, Adam{});
    for (int i = 0; i < 4; ++i) EXPECT_EQ(one_step(second_run).step, i);
  }
}

TEST(SimStepTest, ATensorOfAnotherCardIsAnErrorOfItsTower) {
  auto towers = make_towers(Machine(2, testing::kCardKind).devices(), [] { return in_double(Mlp()); });
  SyncStep step(towers, Adam{});
  const at::Tensor elsewhere = at::ones({1, 3}, testing::on_card(0).dtype(at::kDouble));
  const std::string text = testing::message_of<Error>([&] {
    step.run(feeds_of(vector_feed, {2, 2}, 0), [&](Mlp& model, const Batch& batch) {
      return (model->forward(batch.input) * elsewhere).mean();
    });
  });
  EXPECT_NE(text.find("tower 1 (sim:1), forward, step 0"), std::string::npos) << text;
  EXPECT_NE(text.find("sim:0"), std::string::npos) << text;
}

TEST(SimStepTest, PastTheMemoryLimitTheTowerIsNamedAndASecondRunWorks) {
  for (const DeviceKind kind : {testing::kCardKind, DeviceKind::cpu}) {
    SCOPED_TRACE(kind_name(kind));
    auto devices = Machine(2, kind).devices();
    devices[1].memory_limit = 10 << 20;  // LeNet-5 takes 6.4 MiB, and as much for its gradients
    const auto error = thrown_by<TowerError>([&] { train_lenet5(devices); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->tower(), 1);
    try {
      std::rethrow_exception(error->cause());
    } catch (const MemoryLimitError& cause) {
      EXPECT_EQ(cause.device(), Machine(2, kind).label(1));
      EXPECT_EQ(cause.limit(), 10 << 20);
      EXPECT_GT(cause.in_use() + cause.asked_for(), 10 << 20);
    }
    devices[1].memory_limit = std::nullopt;
    EXPECT_EQ(train_lenet5(devices).losses, train_lenet5(Machine(2).devices()).losses);
  }
}

TEST(SimStepTest, EachTowersMemoryIsMeasured) {
  for (const DeviceKind kind : {testing::kCardKind, DeviceKind::cpu}) {
    SCOPED_TRACE(kind_name(kind));
    auto towers = make_towers(Machine(2, kind).devices(), [] { return LeNet5(); },
                              {.placement = ParameterPlacement::host});
    const std::int64_t parameters = 4 * 1'664'970;
    for (int tower = 0; tower < 2; ++tower) {
      EXPECT_GE(towers.memory().use(tower).in_use, parameters);
      EXPECT_LT(towers.memory().use(tower).in_use, 3 * parameters);
    }
    SyncStep step(towers, Sgd{});
    step.run(feeds_of(lenet_feed, {4, 1}, 0),
             [](LeNet5& model, const Batch& batch) { return model(batch.input).square().mean(); });
    EXPECT_GE(towers.memory().use(0).peak, 2 * parameters) << "gradients";
    EXPECT_GT(towers.memory().use(0).peak, towers.memory().use(1).peak) << "more samples";
    towers.memory().reset_peaks();
    EXPECT_EQ(towers.memory().use(0).peak, towers.memory().use(0).in_use);
  }
}

TEST(SimStepTest, ParametersThatCardsUpdateGoToTheHostOnlyWhenTheyAreRead) {
  PAGODA_NEEDS_SIMULATED_CARDS();
  for (const auto placement : {ParameterPlacement::mirrored, ParameterPlacement::spread}) {
    auto towers = make_towers(testing::first_cards(2), [] { return LeNet5(); },
                              {.placement = placement});
    SyncStep step(towers, Adam{});
    const auto run_step = [&](int number) {
      step.run(feeds_of(lenet_feed, {2, 2}, number), [](LeNet5& model, const Batch& batch) {
        return torch::nn::functional::cross_entropy(model(batch.input), batch.target);
      });
    };
    const auto bytes_out = [] {
      return sim_card(0).traffic(SimCard::Way::out_of_card).bytes;
    };
    run_step(0);
    const std::int64_t before = bytes_out();
    run_step(1);
    const std::int64_t parameters = 4 * element_count(towers.table(0).trainable);
    const std::int64_t shares = placement == ParameterPlacement::spread ? parameters / 2 : 0;
    EXPECT_LE(bytes_out() - before, parameters + shares + parameters / 10)
        << "the gradient, and what the other card needs of the parameters";
    EXPECT_TRUE(testing::all_equal(testing::copies(towers.master().trainable),
                                   testing::copies(towers.table(0).trainable)));
  }
}

}  // namespace sync_step_sim_test
}  // namespace pagoda
