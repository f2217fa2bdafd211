// A card that has been lost, for good: whatever was under way ends with an error that names it, and
// nothing that cleans up behind it ends the process.

#include <pagoda/base/error.h>
#include <pagoda/data/dataset.h>
#include <pagoda/sim/sim_cards.h>
#include <pagoda/train/async_step.h>
#include <pagoda/train/averaged_parameters.h>
#include <pagoda/train/evaluate.h>
#include <pagoda/train/sync_step.h>

#include <string>

#include <gtest/gtest.h>

#include "support/async_fixtures.h"
#include "support/machines.h"

namespace pagoda {
namespace lost_card_test {

using testing::feeds_of;
using testing::make_noisy;
using testing::MeanSquare;
using testing::Noisy;
using testing::OtherSimMachine;
using testing::vector_feed;

/// The step at which the second of two cards is lost.
constexpr std::int64_t kLostAt = 2;

OtherSimMachine two_cards() {
  return {2, {.single_cards = {{1, {.fail_at_step = kLostAt, .stays_lost = true}}}}};
}

/// Two towers of a model with buffers, whose second card is to be lost.
Towers<Noisy> towers_on(const OtherSimMachine& machine, ParameterPlacement placement) {
  return make_towers(machine.devices(), make_noisy, {.placement = placement});
}

template <class Step>
void run_step(Step& step) {
  step.run(feeds_of(vector_feed, {3, 3}, static_cast<int>(step.count())), MeanSquare());
}

template <class Work>
void expect_second_card_is_named(Work work) {
  const std::string text = testing::message_of<Error>(work);
  EXPECT_NE(text.find("sim:1 was lost at step 2"), std::string::npos) << text;
}

class LostCardTest : public ::testing::TestWithParam<ParameterPlacement> {};
INSTANTIATE_TEST_SUITE_P(Placement, LostCardTest,
                         ::testing::Values(ParameterPlacement::mirrored, ParameterPlacement::spread,
                                           ParameterPlacement::host),
                         [](const auto& info) { return placement_name(info.param); });

TEST_P(LostCardTest, SynchronousStepsEndWithItsName) {
  PAGODA_NEEDS_SIMULATED_CARDS();
  const OtherSimMachine machine = two_cards();
  auto towers = towers_on(machine, GetParam());
  SyncStep step(towers, Adam{});
  for (int i = 0; i < kLostAt; ++i) run_step(step);
  expect_second_card_is_named([&] { run_step(step); });
  EXPECT_THROW(run_step(step), Error) << "the card has not come back";
}

TEST_P(LostCardTest, ValidationWithAveragesEndsWithItsName) {
  PAGODA_NEEDS_SIMULATED_CARDS();
  const OtherSimMachine machine = two_cards();
  auto towers = towers_on(machine, GetParam());
  SyncStep step(towers, Adam{}, {.moving_average = MovingAverage{.decay = 0.9}});
  for (int i = 0; i < kLostAt; ++i) run_step(step);
  const Batch all = testing::whole(feeds_of(vector_feed, {3, 3}, 0));
  const TensorDataset data(all.input, all.target);
  expect_second_card_is_named([&] {
    const AveragedParameters averaged(towers, step);
    evaluate(towers, batches(data, towers.size(), {.batch_size = 3}),
             [](Noisy& model, const Batch& batch) {
               note_sim_card_step(1, kLostAt);
               return MeanSquare()(model, batch);
             });
  });
  EXPECT_THROW(run_step(step), Error) << "the averages still stand in for the parameters";
}

TEST(LostCardOfAsyncStepsTest, AsynchronousStepsEndWithItsName) {
  PAGODA_NEEDS_SIMULATED_CARDS();
  const OtherSimMachine machine = two_cards();
  auto towers = towers_on(machine, ParameterPlacement::host);
  AsyncStep step(towers, Adam{});
  expect_second_card_is_named([&] {
    while (true) run_step(step);
  });
}

}  // namespace lost_card_test
}  // namespace pagoda
