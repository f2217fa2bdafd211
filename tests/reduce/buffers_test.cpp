#include "reduce/buffers.h"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "sim/sim_card.h"
#include "support/machines.h"
#include "support/tower_fixtures.h"

namespace pagoda {
namespace buffers_test {

using testing::cpu_devices;
using testing::kTowerCounts;

/// One buffer of each kind; they begin at 1.
struct Counting : torch::nn::Module {
  at::Tensor mean = register_buffer("mean", torch::ones(3, torch::kDouble));
  at::Tensor counter = register_buffer("counter", torch::ones({}, torch::kLong));
  at::Tensor constant = register_buffer("constant", torch::ones(2));
};

/// A group whose towers change their buffers as a step would.
struct BufferFixture {
  BufferFixture(int count, BufferRule rule)
      : towers(cpu_devices(count), [](int) { return std::make_shared<Counting>(); }),
        buffers(towers.replicas(), rule) {}

  const Counting& model(int tower) const { return dynamic_cast<Counting&>(towers.module(tower)); }

  /// Tower t's mean becomes 10 t, its counter 2 + t; towers from `busy` on change nothing.
  void change(int busy) {
    towers.run({.name = "change"}, [&](TowerJob& job) {
      if (job.tower < busy) {
        model(job.tower).mean.fill_(10.0 * job.tower);
        model(job.tower).counter.fill_(2 + job.tower);
      }
      buffers.note_changes(job.tower);
    });
  }

  /// The value that all towers hold; nan when they differ.
  template <class Value>
  double value_on_all(Value value) const {
    const double first = value(model(0));
    for (int tower = 1; tower < towers.size(); ++tower) {
      if (value(model(tower)) != first) return std::nan("");
    }
    return first;
  }
  double mean() const {
    return value_on_all([](const Counting& model) { return model.mean[1].item<double>(); });
  }
  double counter() const {
    return value_on_all([](const Counting& model) { return model.counter.item<double>(); });
  }
  double constant() const {
    return value_on_all([](const Counting& model) { return model.constant[1].item<double>(); });
  }

  TowerGroup towers;
  BufferCombiner buffers;
};

/// Weights 1, 2, … for the first `busy` towers, scaled to the sum 1.
std::vector<double> rising_weights(int count, int busy) {
  std::vector<double> weights(static_cast<std::size_t>(count), 0.0);
  for (int tower = 0; tower < busy; ++tower) {
    weights[static_cast<std::size_t>(tower)] = 2.0 * (tower + 1) / (busy * (busy + 1));
  }
  return weights;
}

/// Σ 10 t (t + 1) over Σ (t + 1) for t below n.
double weighted_mean(int n) { return 10.0 * 2 * (n - 1) / 3; }

class BufferCombinerTest : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Towers, BufferCombinerTest, ::testing::ValuesIn(kTowerCounts));

TEST_P(BufferCombinerTest, MeanIsWeightedAndCountersAreTheFirstTowers) {
  BufferFixture fixture(GetParam(), BufferRule::mean);
  fixture.change(GetParam());
  fixture.buffers.combine(rising_weights(GetParam(), GetParam()));
  EXPECT_NEAR(fixture.mean(), weighted_mean(GetParam()), 1e-12);
  EXPECT_EQ(fixture.counter(), 2);
  EXPECT_EQ(fixture.constant(), 1);
}

TEST_P(BufferCombinerTest, FirstTakesTheFirstTowers) {
  BufferFixture fixture(GetParam(), BufferRule::first);
  fixture.change(GetParam());
  fixture.buffers.combine(rising_weights(GetParam(), GetParam()));
  EXPECT_EQ(fixture.mean(), 0);
  EXPECT_EQ(fixture.counter(), 2);
}

TEST_P(BufferCombinerTest, TowersWithoutAFeedDoNotCount) {
  const int busy = (GetParam() + 1) / 2;
  BufferFixture fixture(GetParam(), BufferRule::mean);
  fixture.change(busy);
  fixture.buffers.combine(rising_weights(GetParam(), busy));
  EXPECT_NEAR(fixture.mean(), weighted_mean(busy), 1e-12);
}

TEST_P(BufferCombinerTest, UnchangedBuffersKeepTheirBits) {
  BufferFixture fixture(GetParam(), BufferRule::mean);
  for (int tower = 0; tower < GetParam(); ++tower) fixture.model(tower).mean.fill_(0.1);
  fixture.buffers.adopt_first();
  fixture.change(0);
  fixture.buffers.combine(
      std::vector<double>(static_cast<std::size_t>(GetParam()), 1.0 / GetParam()));
  EXPECT_EQ(fixture.mean(), 0.1);
}

TEST_P(BufferCombinerTest, RestoreGoesBackToTheLastGoodStep) {
  BufferFixture fixture(GetParam(), BufferRule::mean);
  fixture.change(GetParam());
  fixture.buffers.restore();
  EXPECT_EQ(fixture.mean(), 1);
  EXPECT_EQ(fixture.counter(), 1);

  fixture.change(GetParam());
  fixture.buffers.combine(rising_weights(GetParam(), GetParam()));
  const double good = fixture.mean();
  for (int tower = 0; tower < GetParam(); ++tower) fixture.model(tower).mean.fill_(-1);
  fixture.buffers.restore();
  EXPECT_EQ(fixture.mean(), good);
}

TEST_P(BufferCombinerTest, AdoptsWhatWasLoadedIntoTheFirstTower) {
  BufferFixture fixture(GetParam(), BufferRule::mean);
  fixture.model(0).mean.fill_(5);
  fixture.buffers.adopt_first();
  EXPECT_EQ(fixture.mean(), 5);
  fixture.change(GetParam());
  fixture.buffers.restore();
  EXPECT_EQ(fixture.mean(), 5);
}

TEST(BufferCombinerTest, AModelWithoutBuffersIsFine) {
  TowerGroup towers(cpu_devices(2),
                    [](int) { return std::make_shared<torch::nn::LinearImpl>(2, 2); });
  BufferCombiner buffers(towers.replicas(), BufferRule::mean);
  buffers.note_changes(1);
  buffers.combine({0.5, 0.5});
  buffers.restore();
}

/// Many buffers of two types, as BatchNorm layers have them.
struct ManyBuffers : torch::nn::Module {
  ManyBuffers() {
    for (int i = 0; i < kEach; ++i) {
      register_buffer("mean_" + std::to_string(i), torch::full({3, i + 1}, 1.0 * i));
      register_buffer("count_" + std::to_string(i), torch::zeros({}, torch::kLong));
    }
  }
  static constexpr int kEach = 20;
};

std::int64_t copies_with_host(int card) {
  return sim_card(card).traffic(SimCard::Way::into_card).copies +
         sim_card(card).traffic(SimCard::Way::out_of_card).copies;
}

TEST(BuffersOnCardsTest, GoTogetherOverTheLink) {
  PAGODA_NEEDS_SIMULATED_CARDS();
  TowerGroup towers(testing::Machine(2, testing::kCardKind).devices(),
                    [](int) { return std::make_shared<ManyBuffers>(); });
  BufferCombiner buffers(towers.replicas(), BufferRule::mean);
  const std::int64_t before = copies_with_host(1);
  towers.run({.name = "change"}, [&](TowerJob& job) {
    for (const auto& entry : towers.table(job.tower).buffers) entry.tensor.add_(1 + job.tower);
    buffers.note_changes(job.tower);
  });
  buffers.combine({0.25, 0.75});
  EXPECT_LE(copies_with_host(1) - before, 4) << "each way once for each type";
  for (int tower = 0; tower < 2; ++tower) {
    for (const auto& [name, tensor] : towers.table(tower).buffers) {
      const double expected = name.starts_with("mean")
                                  ? std::stod(name.substr(5)) + 0.25 * 1 + 0.75 * 2
                                  : 1;  // tower 0's
      EXPECT_TRUE(tensor.to(at::kCPU).eq(expected).all().item<bool>()) << name;
    }
  }
}

}  // namespace buffers_test
}  // namespace pagoda
