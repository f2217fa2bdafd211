// Parameter rules equal the parameter groups of torch::optim, on any towers and in any placement.

#include <pagoda/base/error.h>
#include <pagoda/train/async_step.h>
#include <pagoda/train/sync_step.h>

#include <memory>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "support/async_fixtures.h"
#include "support/golden.h"

namespace pagoda {
namespace parameter_rules_test {

using namespace pagoda::testing;

constexpr double kSlow = 0.25;
constexpr double kBiasL2 = 0.2;

/// "a" learns slowly, "b" has a decay of its own (of either kind), "c" nothing, "d" is frozen.
struct Names {
  std::string a, b, c, d;
};
const Names kMlpNames{"hidden.weight", "hidden.bias", "output.weight", "output.bias"};

std::vector<ParameterRule> rules_for(const OptimizerOptions& optimizer, const Names& names) {
  std::vector<ParameterRule> rules = {{.names = names.a, .rate_factor = kSlow},
                                      {.names = names.b, .rate_factor = kSlow, .l2 = kBiasL2},
                                      {.names = names.d, .frozen = true}};
  if (std::holds_alternative<AdamW>(optimizer))
    rules.push_back({.names = names.b, .weight_decay = 0, .l2 = 0});
  return rules;
}

/// LibTorch's optimizer with a group for each parameter; what is frozen has none.
class GroupedTraining {
 public:
  template <class Model>
  GroupedTraining(const Model& model, const OptimizerOptions& optimizer, const Names& names)
      : parameters_(model->named_parameters()) {
    std::visit([&](const auto& one) { make(one, names); }, optimizer);
  }

  void step(const at::Tensor& loss) {
    for (auto& entry : parameters_) entry.value().mutable_grad().reset();
    loss.backward();
    optimizer_->step();
  }

 private:
  void make(const Sgd& o, const Names& names) {
    make_groups<torch::optim::SGD, torch::optim::SGDOptions>(o, names);
  }
  void make(const Adam& o, const Names& names) {
    make_groups<torch::optim::Adam, torch::optim::AdamOptions>(o, names);
  }
  void make(const AdamW& o, const Names& names) {
    make_groups<torch::optim::AdamW, torch::optim::AdamWOptions>(o, names);
  }
  void make(const Adagrad& o, const Names& names) {
    make_groups<torch::optim::Adagrad, torch::optim::AdagradOptions>(o, names);
  }
  void make(const RmsProp& o, const Names& names) {
    make_groups<torch::optim::RMSprop, torch::optim::RMSpropOptions>(o, names);
  }

  template <class Torch, class Options, class Ours>
  void make_groups(const Ours& ours, const Names& names) {
    const auto same = TorchOptimizer{{torch::zeros({1})}}(ours);
    const auto base = static_cast<const Options&>(same->param_groups()[0].options());
    Options slow = base;
    slow.lr(base.lr() * kSlow);
    Options decaying = slow;
    decaying.weight_decay(std::is_same_v<Ours, AdamW> ? 0 : kBiasL2);
    std::vector<torch::optim::OptimizerParamGroup> groups;
    const auto add = [&](const std::string& name, const Options& options) {
      groups.emplace_back(std::vector<at::Tensor>{parameters_[name]},
                          std::make_unique<Options>(options));
    };
    add(names.a, slow);
    add(names.b, decaying);
    add(names.c, base);
    optimizer_ = std::make_unique<Torch>(std::move(groups), base);
  }

  torch::OrderedDict<std::string, at::Tensor> parameters_;
  std::unique_ptr<torch::optim::Optimizer> optimizer_;
};

class ParameterRulesTest : public ::testing::TestWithParam<PlacedMachine> {};
INSTANTIATE_TEST_SUITE_P(Towers, ParameterRulesTest, ::testing::ValuesIn(few_placed_machines()),
                         [](const auto& info) { return ::testing::PrintToString(info.param); });

TEST_P(ParameterRulesTest, EqualTheParameterGroupsOfTorchOptim) {
  const auto [machine, placement] = GetParam();
  for (const auto& [name, optimizer] : all_optimizers()) {
    SCOPED_TRACE(name);
    auto towers = make_towers(machine.devices(), make_mlp, {.placement = placement});
    SyncStep step(towers, optimizer, {.parameter_rules = rules_for(optimizer, kMlpNames)});
    auto plain = make_mlp();
    copy_values(towers, *plain);
    const at::Tensor frozen = plain->output->bias.detach().clone();
    GroupedTraining grouped(plain, optimizer, kMlpNames);
    for (int i = 0; i < 4; ++i) {
      const auto feeds = feeds_of(vector_feed, {2, 3, 1}, i);
      grouped.step(MeanSquare()(plain, whole(feeds)));
      step.run(feeds, MeanSquare());
    }
    EXPECT_LT(largest_difference(copies(towers.master().trainable), trainable_of(*plain)),
              kGoldenTolerance);
    EXPECT_TRUE(towers.master().trainable[3].tensor.equal(frozen));
    for (int tower = 0; tower < machine.towers; ++tower) {
      EXPECT_TRUE(towers.table(tower).trainable[3].tensor.requires_grad()) << "only in the step";
      EXPECT_TRUE(
          all_equal(copies(towers.table(tower).trainable), copies(towers.master().trainable)));
    }
  }
}

TEST(ParameterRulesTest, HoldForAsynchronousStepsToo) {
  auto towers = host_towers(1, make_mlp);
  const Adam adam{.learning_rate = 0.02};
  AsyncStep step(towers, adam, {.parameter_rules = rules_for(adam, kMlpNames)});
  auto plain = make_mlp();
  copy_values(towers, *plain);
  GroupedTraining grouped(plain, adam, kMlpNames);
  for (int i = 0; i < 4; ++i) {
    const auto feeds = feeds_of(vector_feed, {5}, i);
    grouped.step(MeanSquare()(plain, whole(feeds)));
    step.run(feeds, MeanSquare());
    step.finish();
  }
  EXPECT_LT(largest_difference(copies(towers.master().trainable), trainable_of(*plain)),
            kGoldenTolerance);
}

std::vector<at::Tensor> all_copies(const TowerGroup& towers) {
  return copies(towers.master().trainable);
}

TEST(ParameterRulesTest, ClippingAndL2SeeWhatIsTrained) {
  // A frozen parameter counts neither in the norm nor in the L2 term, as if it were not there.
  const auto train = [](bool by_rule) {
    auto towers = make_towers(cpu_devices(2), [by_rule] {
      Mlp model = make_mlp();
      if (!by_rule) model->hidden->weight.set_requires_grad(false);
      return model;
    });
    StepOptions options{.max_tower_grad_norm = 0.3, .max_grad_norm = 0.1, .l2 = 0.4};
    if (by_rule) options.parameter_rules = {{.names = "hidden.weight", .frozen = true}};
    SyncStep step(towers, Sgd{.learning_rate = 0.5, .momentum = 0.9}, options);
    double norm = 0;
    for (int i = 0; i < 3; ++i)
      norm = *step.run(feeds_of(vector_feed, {2, 3}, i), MeanSquare()).grad_norm;
    std::vector<at::Tensor> values = {torch::full({1}, norm, torch::kDouble)};
    for (const auto& entry : towers.model(0)->named_parameters())
      values.push_back(entry.value().detach().clone());
    return values;
  };
  EXPECT_TRUE(all_equal(train(true), train(false)));
}

TEST(ParameterRulesTest, MayChangeBetweenSteps) {
  for (const PlacedMachine& placed :
       {PlacedMachine{2, ParameterPlacement::shared}, PlacedMachine{3, ParameterPlacement::spread},
        PlacedMachine{{2, testing::kCardKind}, ParameterPlacement::mirrored}}) {
    auto towers = make_towers(placed.machine.devices(), make_mlp, {.placement = placed.placement});
    SyncStep step(towers, Adam{.learning_rate = 0.02},
                  {.parameter_rules = {{.names = "hidden.*", .frozen = true}}});
    const auto run = [&](int number) {
      step.run(feeds_of(vector_feed, {2, 3}, number), MeanSquare());
      return all_copies(towers);
    };
    const auto start = all_copies(towers);
    const auto head = run(0);
    EXPECT_TRUE(head[0].equal(start[0]) && head[1].equal(start[1]));
    EXPECT_FALSE(head[2].equal(start[2]));
    step.set_parameter_rules({{.names = "output.*", .frozen = true}});
    const auto rest = run(1);
    EXPECT_FALSE(rest[0].equal(head[0]));
    EXPECT_TRUE(rest[2].equal(head[2]) && rest[3].equal(head[3]));
    step.set_parameter_rules({});
    const auto all = run(2);
    for (std::size_t i = 0; i < all.size(); ++i) EXPECT_FALSE(all[i].equal(rest[i])) << i;

    // Adam's bias correction goes by the updates of each parameter.
    const at::Tensor updates = step.updater().state().optimizer.back().tensor;
    EXPECT_TRUE(updates.equal(torch::tensor({2, 2, 2, 2}, torch::kLong))) << updates;
    EXPECT_THROW(step.set_parameter_rules({{.names = "nothing"}}), UsageError);
  }
}

TEST(ParameterRulesTest, FreezingInTheModelWorksOnAllTowersOrIsRefused) {
  auto towers = make_towers(cpu_devices(2), [] { return in_double(HalfFrozen()); });
  SyncStep step(towers, Adam{.learning_rate = 0.02});
  const auto run = [&] { step.run(feeds_of(vector_feed, {2, 3}, 0), MeanSquare()); };
  run();
  towers.model(0)->output->bias.set_requires_grad(false);
  std::string text = message_of<UsageError>(run);
  EXPECT_NE(text.find("'output.bias' requires a gradient on some towers only"), std::string::npos)
      << text;
  towers.model(1)->output->bias.set_requires_grad(false);
  const at::Tensor before = towers.model(0)->output->bias.detach().clone();
  run();
  EXPECT_TRUE(towers.model(0)->output->bias.equal(before));

  towers.model(0)->hidden->weight.set_requires_grad(true);
  towers.model(1)->hidden->weight.set_requires_grad(true);
  text = message_of<UsageError>(run);
  EXPECT_NE(text.find("'hidden.weight' was frozen when the towers were built"), std::string::npos)
      << text;
}

TEST(ParameterRulesTest, MistakesAreTold) {
  auto towers = make_towers(cpu_devices(1), make_mlp);
  const auto with = [&](const OptimizerOptions& optimizer, const ParameterRule& rule) {
    return message_of<UsageError>(
        [&] { SyncStep(towers, optimizer, {.parameter_rules = {rule}}); });
  };
  EXPECT_NE(with(Adam{}, {.names = "ouput.*"}).find("near it are 'output.weight', 'output.bias'"),
            std::string::npos);
  EXPECT_NE(with(Adam{}, {.names = "*", .weight_decay = 0}).find("Adam has none"),
            std::string::npos);
  EXPECT_EQ(with(AdamW{}, {.names = "*", .weight_decay = 0}), "");
  EXPECT_NE(with(Adam{}, {.names = "*", .rate_factor = -1}), "");

  torch::optim::SGD optimizer(towers.parameters(), 0.1);
  EXPECT_THROW(SyncStep(towers, optimizer, {.parameter_rules = {{.names = "*", .rate_factor = 2}}}),
               UsageError);
  SyncStep frozen(towers, optimizer, {.parameter_rules = {{.names = "*.bias", .frozen = true}}});
  const auto before = all_copies(towers);
  frozen.run(feeds_of(vector_feed, {3}, 0), MeanSquare());
  EXPECT_TRUE(all_copies(towers)[1].equal(before[1]));
  EXPECT_FALSE(all_copies(towers)[0].equal(before[0]));

  SyncStep nothing(towers, Adam{}, {.parameter_rules = {{.names = "*", .frozen = true}}});
  EXPECT_THROW(nothing.run(feeds_of(vector_feed, {3}, 0), MeanSquare()), UsageError);
}

}  // namespace parameter_rules_test
}  // namespace pagoda
