#include "sim/sim_generator.h"

#include <pagoda/base/error.h>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <gtest/gtest.h>

#include "support/sim_machine.h"

namespace pagoda {
namespace sim_generator_test {

using testing::on_sim;

TEST(SimGeneratorTest, DrawsWhatACpuGeneratorDraws) {
  at::Generator card = make_sim_generator(1);
  at::Generator cpu = at::make_generator<at::CPUGeneratorImpl>();
  card.set_current_seed(42);
  cpu.set_current_seed(42);
  const at::Tensor drawn = at::empty({1000}, on_sim(1)).normal_(0, 1, card);
  EXPECT_TRUE(drawn.cpu().equal(at::empty({1000}).normal_(0, 1, cpu)));
  EXPECT_EQ(card.current_seed(), 42);
}

TEST(SimGeneratorTest, StateAndCloneGoOnWithTheSameNumbers) {
  at::Generator card = make_sim_generator(0);
  card.set_current_seed(3);
  const at::Tensor state = card.get_state();
  at::Generator copy = card.clone();
  const auto draw = [](at::Generator generator) {
    return at::empty({20}, on_sim(0)).uniform_(0, 1, generator).cpu();
  };
  const at::Tensor first = draw(card);
  EXPECT_TRUE(draw(copy).equal(first));
  EXPECT_FALSE(draw(card).equal(first));
  card.set_state(state);
  EXPECT_TRUE(draw(card).equal(first));
}

TEST(SimGeneratorTest, EveryCardHasItsOwnDefault) {
  auto first = at::globalContext().defaultGenerator(on_sim(0).device());
  auto second = at::globalContext().defaultGenerator(on_sim(1).device());
  first.set_current_seed(1);
  second.set_current_seed(2);
  const at::Tensor a = at::rand({50}, on_sim(0)).cpu();
  const at::Tensor b = at::rand({50}, on_sim(1)).cpu();
  EXPECT_FALSE(a.equal(b));
  second.set_current_seed(1);
  EXPECT_TRUE(at::rand({50}, on_sim(1)).cpu().equal(a));
}

TEST(SimGeneratorTest, AGeneratorOfAnotherDeviceIsAnError) {
  at::Generator other = make_sim_generator(1);
  at::Generator cpu = at::make_generator<at::CPUGeneratorImpl>();
  EXPECT_THROW(at::empty({2}, on_sim(0)).uniform_(0, 1, other), UsageError);
  EXPECT_THROW(at::empty({2}, on_sim(0)).uniform_(0, 1, cpu), UsageError);
  EXPECT_THROW(host_generator(other, 0), UsageError);
}

}  // namespace sim_generator_test
}  // namespace pagoda
