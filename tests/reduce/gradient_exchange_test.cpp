// Whatever way the towers' gradients take, an update reads the same sum.

#include "reduce/gradient_exchange.h"

#include <pagoda/tower/tower_group.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "params/gradient_visit.h"
#include "reduce/card_exchange.h"
#include "reduce/host_exchange.h"
#include "support/machines.h"
#include "support/small_models.h"
#include "support/tower_fixtures.h"

namespace pagoda {
namespace gradient_exchange_test {

using testing::Machine;

constexpr std::int64_t kElements = 5;
constexpr double kL2 = 0.25;

/// A parameter of ones.
struct OnesImpl : torch::nn::Module {
  at::Tensor weight = register_parameter("weight", torch::ones({kElements}, torch::kDouble));
};

struct Way {
  DeviceKind kind;
  ParameterPlacement placement;
  bool cards_sum;  // with several towers
  int towers;
};

std::string way_name(const ::testing::TestParamInfo<Way>& info) {
  return std::string(info.param.kind == DeviceKind::cpu ? "cpu" : "sim") + "_" +
         placement_name(info.param.placement) + "_" + std::to_string(info.param.towers);
}

std::vector<Way> ways() {
  std::vector<Way> all;
  for (const int towers : {1, 2, 3}) {
    all.push_back({DeviceKind::cpu, ParameterPlacement::shared, false, towers});
    all.push_back({DeviceKind::cpu, ParameterPlacement::spread, false, towers});
    all.push_back({testing::kCardKind, ParameterPlacement::host, false, towers});
    all.push_back({testing::kCardKind, ParameterPlacement::mirrored, towers > 1, towers});
    all.push_back({testing::kCardKind, ParameterPlacement::spread, towers > 1, towers});
  }
  return all;
}

class GradientExchangeTest : public ::testing::TestWithParam<Way> {
 protected:
  int count() const { return towers_.size(); }

  /// Tower t's gradient is (t + 1) · share in every element: its own mean is t + 1.
  std::vector<Clipped> collect(GradientExchange& exchange) {
    const auto found = std::make_shared<std::vector<Clipped>>(static_cast<std::size_t>(count()));
    towers_.run({.name = "test"}, [this, &exchange, found](TowerJob& job) {
      exchange.begin(job.tower);
      const at::Tensor& weight = towers_.table(job.tower).trainable[0].tensor;
      exchange.last_backward(job.tower);
      weight.mutable_grad() = torch::full_like(weight.detach(), (job.tower + 1) * share());
      (*found)[static_cast<std::size_t>(job.tower)] =
          exchange.collect(job.tower, 1 / share(), {kL2});
    });
    return *found;
  }
  double share() const { return 1.0 / count(); }

  /// What an update on tower 0 or on the host reads.
  static double gradient_in(const GradientView& view) {
    const ParameterGradient& gradient = view.parameters[0];
    if (gradient.form == ParameterGradient::Form::summed)
      return gradient.towers[0].to(at::kCPU)[0].item<double>() * view.weights[0];
    double first = 0;
    visit_gradient<double>(gradient, view.weights, 1, 0, kElements, Sweep::all,
                           [&](std::int64_t, std::int64_t, const double* sum) { first = sum[0]; });
    return first;
  }

  TowerGroup towers_{Machine(GetParam().towers, GetParam().kind).devices(),
                     testing::make_module<OnesImpl>,
                     {.placement = GetParam().placement}};
};
INSTANTIATE_TEST_SUITE_P(Ways, GradientExchangeTest, ::testing::ValuesIn(ways()), way_name);

TEST_P(GradientExchangeTest, CardsThatUpdateSumAmongThemselvesAndAllOthersAreReadOnTheHost) {
  const auto exchange = make_gradient_exchange(towers_.replicas(), {});
  EXPECT_EQ(dynamic_cast<CardExchange*>(exchange.get()) != nullptr, GetParam().cards_sum);
  EXPECT_EQ(dynamic_cast<HostExchange*>(exchange.get()) != nullptr, !GetParam().cards_sum);
}

TEST_P(GradientExchangeTest, AnUpdateReadsTheSum) {
  const auto exchange = make_gradient_exchange(towers_.replicas(), {});
  for (int round = 0; round < 2; ++round) {
    std::vector<double> clips;
    for (const Clipped& clip : collect(*exchange)) clips.push_back(clip.factor);
    EXPECT_EQ(clips, std::vector<double>(clips.size(), 1)) << "nothing is clipped";
    EXPECT_NEAR(gradient_in(exchange->view(clips)), (count() + 1) / 2.0, 1e-12);
    for (int tower = 0; tower < count(); ++tower)
      EXPECT_FALSE(towers_.table(tower).trainable[0].tensor.grad().defined());
  }
}

TEST_P(GradientExchangeTest, EachTowersOwnMeanIsClipped) {
  constexpr double kMaxNorm = 4;
  const auto exchange = make_gradient_exchange(towers_.replicas(), kMaxNorm);
  const std::vector<Clipped> found = collect(*exchange);
  std::vector<double> clips;
  double sum = 0;
  for (int tower = 0; tower < count(); ++tower) {
    const double norm = (tower + 1 + kL2) * std::sqrt(kElements);
    const double factor = std::min(1.0, kMaxNorm / norm);
    EXPECT_NEAR(found[static_cast<std::size_t>(tower)].norm, norm, 1e-12);
    EXPECT_NEAR(found[static_cast<std::size_t>(tower)].factor, factor, 1e-12);
    clips.push_back(found[static_cast<std::size_t>(tower)].factor);
    sum += factor * (tower + 1) * share();
  }
  EXPECT_NEAR(gradient_in(exchange->view(clips)), sum, 1e-12);
}

TEST_P(GradientExchangeTest, ATowerWithoutFeedsTakesPartAndClipsNothing) {
  const auto exchange = make_gradient_exchange(towers_.replicas(), 1.0);
  towers_.run({.name = "test"}, [&](TowerJob& job) {
    exchange->begin(job.tower);
    const at::Tensor& weight = towers_.table(job.tower).trainable[0].tensor;
    if (job.tower == 0) weight.mutable_grad() = torch::full_like(weight.detach(), 1e-3);
    const Clipped clip = exchange->collect(job.tower, job.tower == 0 ? 1 : 0, {0});
    if (clip.factor != 1) throw std::runtime_error("clipped");
  });
  const std::vector<double> clips(static_cast<std::size_t>(count()), 1);
  EXPECT_NEAR(gradient_in(exchange->view(clips)), 1e-3, 1e-15);
}

TEST_P(GradientExchangeTest, NothingIsLeftAfterAFailure) {
  const auto exchange = make_gradient_exchange(towers_.replicas(), {});
  const int bad = count() - 1;
  EXPECT_THROW(towers_.run({.name = "test"},
                           [&](TowerJob& job) {
                             const at::Tensor& weight =
                                 towers_.table(job.tower).trainable[0].tensor;
                             weight.mutable_grad() = torch::ones_like(weight.detach());
                             if (job.tower == bad) {
                               exchange->abort();
                               throw std::runtime_error("lost");
                             }
                             exchange->collect(job.tower, 1 / share(), {0});
                           }),
               std::exception);
  exchange->discard();
  for (int tower = 0; tower < count(); ++tower)
    EXPECT_FALSE(towers_.table(tower).trainable[0].tensor.grad().defined());
  const std::vector<double> ones(static_cast<std::size_t>(count()), 1);
  EXPECT_EQ(exchange->view(ones).parameters[0].form, ParameterGradient::Form::none);
  collect(*exchange);
  EXPECT_NEAR(gradient_in(exchange->view(ones)), (count() + 1) / 2.0, 1e-12);
}

}  // namespace gradient_exchange_test
}  // namespace pagoda
