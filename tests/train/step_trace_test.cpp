#include <pagoda/base/error.h>
#include <pagoda/train/step_trace.h>
#include <pagoda/train/sync_step.h>

#include <string>

#include <gtest/gtest.h>

#include "support/scratch_directory.h"
#include "support/small_models.h"
#include "support/tower_fixtures.h"

namespace pagoda {
namespace step_trace_test {

using testing::read_file;

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

class StepTraceTest : public ::testing::Test {
 protected:
  /// Steps 1 to `steps`; true if a trace was written meanwhile.
  bool run(StepTrace& trace, int steps) {
    auto towers =
        make_towers(testing::cpu_devices(2), [] { return testing::Noisy(); }, {.seed = 1});
    SyncStep step(towers, Sgd{.learning_rate = 0.1});
    bool wrote = false;
    for (int number = 1; number <= steps; ++number) {
      trace.before(number);
      step.run(testing::feeds_of(testing::vector_feed, {4, 3}, 0), testing::MeanSquare{});
      wrote = trace.after(number) || wrote;
    }
    return wrote;
  }

  testing::ScratchDirectory scratch;
};

TEST_F(StepTraceTest, HoldsTheChosenStepsWithARowForEachTower) {
  StepTrace trace(scratch / "trace.json", 2, 4);
  EXPECT_TRUE(run(trace, 6));
  EXPECT_EQ(scratch.names(), std::vector<std::string>{"trace.json"});
  const std::string text = read_file(scratch / "trace.json");
  EXPECT_NE(text.find("\"name\": \"tower 0\""), std::string::npos);
  EXPECT_NE(text.find("\"name\": \"tower 1\""), std::string::npos);
  EXPECT_EQ(text.find("(tower"), std::string::npos);
  EXPECT_EQ(count_of(text, "\"name\": \"update\""), 2U * 3U) << "two towers, three steps";
  EXPECT_GT(count_of(text, "aten::"), 0U);
}

TEST_F(StepTraceTest, HasNoProcessesOfCardsThatAreNotThere) {
  StepTrace trace(scratch / "trace.json", 1, 1);
  EXPECT_TRUE(run(trace, 1));
  const std::string text = read_file(scratch / "trace.json");
  EXPECT_EQ(count_of(text, "\"GPU "), 0U);
  EXPECT_EQ(count_of(text, "\"labels\": \"CPU\""), 1U);
  EXPECT_EQ(count_of(text, "{"), count_of(text, "}"));
}

TEST_F(StepTraceTest, WritesNothingWhenTheRunEndsBefore) {
  {
    StepTrace trace(scratch / "trace.json", 2, 4);
    EXPECT_FALSE(run(trace, 3));
  }
  EXPECT_TRUE(scratch.names().empty());
  StepTrace next(scratch / "trace.json", 1, 1);
  EXPECT_TRUE(run(next, 1)) << "the one before has ended its recording";
}

TEST_F(StepTraceTest, RefusesStepsAndFilesThatCannotBe) {
  EXPECT_THROW(StepTrace(scratch / "trace.json", 0, 4), UsageError);
  EXPECT_THROW(StepTrace(scratch / "trace.json", 4, 3), UsageError);
  EXPECT_THROW(StepTrace(scratch / "missing" / "trace.json", 1, 1), IoError);
  EXPECT_THROW(StepTrace(scratch.path(), 1, 1), IoError);
}

}  // namespace step_trace_test
}  // namespace pagoda
