#include "sim/sim_card.h"

#include <chrono>

#include <gtest/gtest.h>

#include "support/sim_machine.h"

namespace pagoda {
namespace sim_card_test {

TEST(SimCardTest, FailsOnceAtItsStep) {
  SimCard card(3);
  card.configure({.options = {.fail_at_step = 2}});
  card.begin_operation();
  card.note_step(1);
  card.begin_operation();
  card.note_step(2);
  try {
    card.begin_operation();
    FAIL();
  } catch (const DeviceError& error) {
    EXPECT_NE(std::string(error.what()).find("sim:3 was lost at step 2"), std::string::npos);
  }
  card.begin_operation();  // it works again
}

// Of asynchronous towers one may compute all feeds of a step.
TEST(SimCardTest, WithoutAnOperationInItsStepItFailsInALaterOne) {
  SimCard card(0);
  card.configure({.options = {.fail_at_step = 2}});
  card.note_step(1);
  card.begin_operation();
  card.note_step(4);
  EXPECT_THROW(card.begin_operation(), DeviceError);
}

TEST(SimCardTest, MemoryIsItsLimit) {
  SimCard card(0);
  card.configure({.options = {.memory_bytes = 1000}, .original = 5});
  EXPECT_EQ(card.memory().limit(), 1000);
  EXPECT_EQ(card.spec().original, 5);
  EXPECT_EQ(card.generator().device(), sim_torch_device(0));
}

// A slower card and a slow link take at least the time that they ask for; more is the machine's.
TEST(SimCardTest, ASlowLinkTakesItsTime) {
  using Clock = std::chrono::steady_clock;
  SimCard card(0);
  card.configure({.options = {.slow_down = 3, .link_speed = 1e6}});
  auto begin = Clock::now();
  EXPECT_GE(card.send(SimCard::Way::into_card, 5'000) - begin, std::chrono::milliseconds(5));
  EXPECT_GE(card.send(SimCard::Way::into_card, 5'000) - begin, std::chrono::milliseconds(10))
      << "one after the other";
  const auto later = begin + std::chrono::hours(1);
  for (const auto way : {SimCard::Way::into_card, SimCard::Way::out_of_card})
    EXPECT_EQ(card.send(way, 1'000'000, later), later + std::chrono::seconds(1));

  ASSERT_EQ(card.last_sent().size(), 4);
  EXPECT_EQ(card.last_sent()[1].begin, card.last_sent()[0].end);
  EXPECT_EQ(card.traffic(SimCard::Way::into_card).copies, 3);
  EXPECT_EQ(card.traffic(SimCard::Way::into_card).bytes, 1'010'000);

  begin = Clock::now();
  Clock::duration computing;
  {
    const SlowDown slow_down(card);
    double sum = 0;
    for (int i = 0; i < 100'000; ++i) sum += i;
    EXPECT_GT(sum, 0);
    computing = Clock::now() - begin;
  }
  EXPECT_GE(Clock::now() - begin, 2 * computing);
}

}  // namespace sim_card_test
}  // namespace pagoda
