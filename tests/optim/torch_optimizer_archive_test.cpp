#include "optim/torch_optimizer_archive.h"

#include <pagoda/base/error.h>

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <torch/optim/adagrad.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/rmsprop.h>
#include <torch/optim/sgd.h>
#include <torch/serialize/archive.h>
#include <torch/types.h>

#include "optim/update_fixtures.h"

namespace pagoda {
namespace torch_optimizer_archive_test {

using namespace pagoda::testing;
using torch::optim::OptimizerParamGroup;

/// Three parameters of one shape, so that only their names tell them apart; "c" is never used.
struct Weights {
  Weights() {
    for (const char* name : {"a", "b", "c"})
      parameters.push_back({name, filled({3, 2}, at::kFloat, start).requires_grad_()});
    for (const auto& entry : parameters) tensors.push_back(entry.tensor);
  }
  void update(torch::optim::Optimizer& optimizer, std::int64_t update) const {
    for (std::size_t i = 0; i < 2; ++i) {
      tensors[i].mutable_grad() = filled_like(tensors[i].detach(), [&](std::int64_t element) {
        return slope(static_cast<std::int64_t>(i), update, element);
      });
    }
    optimizer.step();
  }

  Parameters parameters;
  std::vector<at::Tensor> tensors;
};

using Made = std::unique_ptr<torch::optim::Optimizer>;

struct Kind {
  const char* name;
  std::function<Made(const std::vector<OptimizerParamGroup>&)> make;
};

/// Every option that keeps more state is on.
std::vector<Kind> every_kind() {
  namespace optim = torch::optim;
  return {
      {"SGD",
       [](const auto& p) -> Made {
         return std::make_unique<optim::SGD>(p,
                                             optim::SGDOptions(0.05).momentum(0.9).nesterov(true));
       }},
      {"Adam",
       [](const auto& p) -> Made {
         return std::make_unique<optim::Adam>(p, optim::AdamOptions(0.05).amsgrad(true));
       }},
      {"AdamW",
       [](const auto& p) -> Made {
         return std::make_unique<optim::AdamW>(p, optim::AdamWOptions(0.05).weight_decay(0.1));
       }},
      {"Adagrad",
       [](const auto& p) -> Made {
         return std::make_unique<optim::Adagrad>(p, optim::AdagradOptions(0.05).lr_decay(0.01));
       }},
      {"RMSprop",
       [](const auto& p) -> Made {
         return std::make_unique<optim::RMSprop>(
             p, optim::RMSpropOptions(0.05).momentum(0.9).centered(true));
       }},
  };
}

std::vector<OptimizerParamGroup> one_group(const Weights& weights) {
  return {OptimizerParamGroup(weights.tensors)};
}

/// Why the optimizer does not take the archive over.
std::string refusal(const at::Tensor& archive, torch::optim::Optimizer& other,
                    const Weights& weights) {
  try {
    load_archive(other, weights.parameters, archive);
  } catch (const DataError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(TorchOptimizerArchiveTest, AnOptimizerGoesOnBitForBit) {
  for (const auto& [name, make] : every_kind()) {
    for (const std::int64_t saved_at : {0, 1, 3}) {
      SCOPED_TRACE(std::string(name) + " saved after " + std::to_string(saved_at));
      const Weights whole;
      const Weights resumed;
      const auto first = make(one_group(whole));
      const auto second = make(one_group(resumed));
      for (std::int64_t i = 0; i < saved_at; ++i) whole.update(*first, i);
      resumed.update(*second, 9);  // what was there before does not matter
      load_archive(*second, resumed.parameters, archive_of(*first, whole.parameters));
      for (std::size_t i = 0; i < whole.tensors.size(); ++i)
        resumed.tensors[i].detach().copy_(whole.tensors[i]);
      for (std::int64_t i = saved_at; i < 6; ++i) {
        whole.update(*first, i);
        resumed.update(*second, i);
      }
      expect_same_bits(resumed.tensors, whole.tensors);
    }
  }
}

TEST(TorchOptimizerArchiveTest, GroupsKeepTheirOptions) {
  const Weights weights;
  const auto groups = [&] {
    return std::vector<OptimizerParamGroup>{{{weights.tensors[0]}}, {{weights.tensors[1]}}};
  };
  torch::optim::SGD first(groups(), torch::optim::SGDOptions(0.5));
  first.param_groups()[1].options().set_lr(0.125);
  torch::optim::SGD second(groups(), torch::optim::SGDOptions(0.25));
  load_archive(second, weights.parameters, archive_of(first, weights.parameters));
  EXPECT_EQ(second.param_groups()[0].options().get_lr(), 0.5);
  EXPECT_EQ(second.param_groups()[1].options().get_lr(), 0.125);
}

TEST(TorchOptimizerArchiveTest, AnotherClassIsRefusedByName) {
  const Weights weights;
  for (const auto& [name, make] : every_kind()) {
    const auto saved = make(one_group(weights));
    weights.update(*saved, 0);
    const at::Tensor archive = archive_of(*saved, weights.parameters);
    for (const auto& [other_name, make_other] : every_kind()) {
      if (std::string(name) == other_name) continue;
      const auto other = make_other(one_group(weights));
      const std::string text = refusal(archive, *other, weights);
      EXPECT_NE(text.find(std::string("of a torch::optim::") + name + ","), std::string::npos)
          << text;
      EXPECT_NE(text.find(std::string("with a torch::optim::") + other_name + ";"),
                std::string::npos)
          << text;
    }
  }
}

TEST(TorchOptimizerArchiveTest, OtherParametersOrGroupsAreRefusedByName) {
  const Weights weights;
  const auto& tensors = weights.tensors;
  torch::optim::SGD saved(tensors, torch::optim::SGDOptions(0.5).momentum(0.9));
  weights.update(saved, 0);
  const at::Tensor archive = archive_of(saved, weights.parameters);
  const auto refused = [&](const std::vector<OptimizerParamGroup>& groups) {
    torch::optim::SGD other(groups, torch::optim::SGDOptions(0.5).momentum(0.9));
    return refusal(archive, other, weights);
  };
  EXPECT_NE(refused({{{tensors[1], tensors[0], tensors[2]}}})
                .find("parameter 0 (group/name) is '0/a' in the saved state and '0/b'"),
            std::string::npos);
  EXPECT_NE(refused({{{tensors[0]}}, {{tensors[1], tensors[2]}}})
                .find("parameter 1 (group/name) is '0/b' in the saved state and '1/b'"),
            std::string::npos);
  EXPECT_NE(refused({{{tensors[0], tensors[1]}}})
                .find("parameter 2 (group/name) is '0/c' in the saved state and missing"),
            std::string::npos);
  EXPECT_EQ(refused({{tensors}}), "accepted");
}

TEST(TorchOptimizerArchiveTest, NoStateAndOtherBytesAreRefused) {
  const Weights weights;
  torch::optim::Adam optimizer(weights.tensors);
  EXPECT_NE(refusal({}, optimizer, weights).find("no saved state of a torch::optim::Adam"),
            std::string::npos);
  EXPECT_NE(refusal(torch::arange(100, torch::kByte), optimizer, weights).find("is damaged"),
            std::string::npos);
  EXPECT_NE(refusal(torch::empty({0}, torch::kByte), optimizer, weights).find("is damaged"),
            std::string::npos);
}

TEST(TorchOptimizerArchiveTest, DamageNeverGivesAnotherState) {
  const Weights weights;
  torch::optim::Adam optimizer(weights.tensors);
  weights.update(optimizer, 0);
  const at::Tensor archive = archive_of(optimizer, weights.parameters);
  int refused = 0;
  for (std::int64_t at = 0; at < archive.numel(); at += 31) {
    const at::Tensor damaged = archive.clone();
    damaged.mutable_data_ptr<std::uint8_t>()[at] ^= 4;
    if (refusal(damaged, optimizer, weights) != "accepted") {
      ++refused;
    } else {
      ASSERT_TRUE(archive_of(optimizer, weights.parameters).equal(archive)) << "byte " << at;
    }
  }
  EXPECT_GT(refused, 0);
}

/// Changes nothing, and counts its steps.
class CountingOptimizer : public torch::optim::Optimizer {
 public:
  explicit CountingOptimizer(std::vector<at::Tensor> parameters)
      : Optimizer(std::move(parameters), std::make_unique<torch::optim::SGDOptions>(1.0)) {}
  at::Tensor step(LossClosure /*closure*/ = nullptr) override {
    ++count;
    return {};
  }
  std::int64_t count = 0;
};

class SavingOptimizer final : public CountingOptimizer {
 public:
  using CountingOptimizer::CountingOptimizer;
  void save(torch::serialize::OutputArchive& archive) const override {
    archive.write("count", c10::IValue(count));
  }
  void load(torch::serialize::InputArchive& archive) override {
    c10::IValue value;
    archive.read("count", value);
    if (value.toInt() == 3) throw std::runtime_error("three");
    count = value.toInt();
  }
};

TEST(TorchOptimizerArchiveTest, AClassOfTheUsersIsSavedByItsOwnFunctions) {
  const Weights weights;
  SavingOptimizer saved(weights.tensors);
  saved.count = 7;
  SavingOptimizer other(weights.tensors);
  load_archive(other, weights.parameters, archive_of(saved, weights.parameters));
  EXPECT_EQ(other.count, 7);
  saved.count = 3;
  EXPECT_NE(refusal(archive_of(saved, weights.parameters), other, weights).find("three"),
            std::string::npos);
}

TEST(TorchOptimizerArchiveTest, AClassThatSavesNothingIsRefused) {
  const Weights weights;
  const CountingOptimizer optimizer(weights.tensors);
  try {
    archive_of(optimizer, weights.parameters);
    FAIL() << "accepted";
  } catch (const UsageError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("CountingOptimizer"), std::string::npos) << text;
    EXPECT_NE(text.find("override save() and load()"), std::string::npos) << text;
  }
}

}  // namespace torch_optimizer_archive_test
}  // namespace pagoda
