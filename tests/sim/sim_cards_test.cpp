#include <pagoda/base/error.h>
#include <pagoda/memory/memory_account.h>
#include <pagoda/sim/sim_cards.h>

#include <atomic>
#include <limits>
#include <thread>

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "support/sim_machine.h"

namespace pagoda {
namespace sim_cards_test {

using testing::on_sim;
using testing::OtherSimMachine;

TEST(SimCardsTest, OptionsOutOfRangeAreRefusedAndChangeNothing) {
  const auto refused = [](const SimCardOptions& options) {
    EXPECT_THROW(simulate_cards({{options, 0}}), UsageError);
  };
  refused({.memory_bytes = 0});
  refused({.slow_down = 0.5});
  refused({.slow_down = std::numeric_limits<double>::quiet_NaN()});
  refused({.link_speed = 0});
  refused({.fail_at_step = -1});
  EXPECT_THROW(simulate_cards({}), UsageError);
  EXPECT_THROW(simulate_cards(std::vector<SimCardSpec>(kMostSimCards + 1)), UsageError);
  EXPECT_EQ(sim_card_count(), testing::kSimCards);
}

TEST(SimCardsTest, TheNumberCanChangeAfterABackward) {
  at::ones({1}, on_sim(0)).requires_grad_().mul(2).backward();
  const OtherSimMachine machine(kMostSimCards, {});
  EXPECT_EQ(sim_card_count(), kMostSimCards);
  const at::Tensor leaf = at::ones({1}, on_sim(kMostSimCards - 1)).requires_grad_();
  leaf.mul(2).backward();
  EXPECT_EQ(leaf.grad().item<float>(), 2);
}

TEST(SimCardsTest, BackwardThreadsComputeOnOneCoreAndOthersKeepTheirs) {
  const int threads = at::get_num_threads();
  std::atomic<int> in_backward = 0;
  const at::Tensor leaf = at::ones({1}, on_sim(1)).requires_grad_();
  leaf.register_hook([&](const at::Tensor&) { in_backward = at::get_num_threads(); });
  leaf.mul(2).backward();
  EXPECT_EQ(in_backward, 1);
  EXPECT_EQ(at::get_num_threads(), threads);
}

TEST(SimCardsTest, ACardThatFailsDoesSoInBackwardToo) {
  const OtherSimMachine machine(1, {.card = {.fail_at_step = 3}});
  const at::Tensor leaf = at::ones({1}, on_sim(0)).requires_grad_();
  const at::Tensor loss = leaf.exp();
  note_sim_card_step(0, 3);
  EXPECT_ANY_THROW(loss.backward());
}

}  // namespace sim_cards_test
}  // namespace pagoda
