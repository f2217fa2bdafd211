#include "run/best_validation.h"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace pagoda {
namespace best_validation_test {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

class WatchingTask : public RunTask {
 public:
  WatchingTask(std::string metric, Better better) : metric_(std::move(metric)), better_(better) {}
  std::string name() const override { return "watching"; }
  Validation validate() override { return {}; }
  std::string watched() const override { return metric_; }
  Better better() const override { return better_; }

 private:
  const std::string metric_;
  const Better better_;
};

/// Counts a validation after each of steps 1, 2, …; which of them were the best so far.
std::vector<bool> bests(const std::vector<double>& values, const WatchingTask& task,
                        RunState& state) {
  std::vector<bool> found;
  for (const double value : values) {
    ++state.step;
    const Evaluation evaluation = task.watched() == "loss"
                                      ? Evaluation{.loss = value}
                                      : Evaluation{.metrics = {{task.watched(), value}}};
    found.push_back(count_validation(evaluation, task, state));
  }
  return found;
}

using Bests = std::vector<bool>;

TEST(BestValidationTest, ALowerLossIsBetterAndAnEqualOneIsNot) {
  RunState state;
  EXPECT_EQ(bests({3, 2, 2, 4, 1.5}, {"loss", Better::less}, state),
            (Bests{true, true, false, false, true}));
  EXPECT_EQ(state.best, 1.5);
  EXPECT_EQ(state.best_step, 5);
  EXPECT_EQ(state.stale_validations, 0);
}

TEST(BestValidationTest, OfAMetricMoreMayBeBetter) {
  RunState state;
  EXPECT_EQ(bests({0.5, 0.25, 0.75}, {"accuracy", Better::more}, state),
            (Bests{true, false, true}));
  EXPECT_EQ(state.best, 0.75);
}

TEST(BestValidationTest, ANanIsNeverTheBest) {
  for (const Better better : {Better::less, Better::more}) {
    RunState state;
    EXPECT_EQ(bests({kNan, 2, kNan}, {"loss", better}, state), (Bests{false, true, false}));
    EXPECT_EQ(state.best, 2);
    EXPECT_EQ(state.best_step, 2);
  }
}

TEST(BestValidationTest, ANanInAnOlderCheckpointDoesNotStayTheBest) {
  RunState state{.best = kNan};
  EXPECT_EQ(bests({5}, {"loss", Better::less}, state), Bests{true});
}

TEST(BestValidationTest, SoManyValidationsThatAreNoBetterAreStale) {
  RunState state;
  bests({1, 2, kNan}, {"loss", Better::less}, state);
  EXPECT_TRUE(is_stale(state, 1));
  EXPECT_TRUE(is_stale(state, 2));
  EXPECT_FALSE(is_stale(state, 3));
  EXPECT_FALSE(is_stale(state, 0)) << "0 is never";
}

}  // namespace best_validation_test
}  // namespace pagoda
