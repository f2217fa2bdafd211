#include <pagoda/pipeline/schedule.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "support/staged_models.h"

namespace pagoda {
namespace schedule_test {

using testing::kSchedules;

/// "F0 F1 B0 B1".
std::string text(const std::vector<StageAction>& actions) {
  std::string result;
  for (const auto& action : actions) {
    result += (result.empty() ? "" : " ");
    result += (action.kind == StageAction::Kind::forward ? "F" : "B");
    result += std::to_string(action.micro_batch);
  }
  return result;
}

TEST(ScheduleTest, KnownSchedules) {
  const auto one = PipelineSchedule::one_forward_one_backward;
  EXPECT_EQ(text(stage_actions(PipelineSchedule::gpipe, 0, 2, 3)), "F0 F1 F2 B0 B1 B2");
  EXPECT_EQ(text(stage_actions(one, 0, 3, 4)), "F0 F1 F2 B0 F3 B1 B2 B3");
  EXPECT_EQ(text(stage_actions(one, 1, 3, 4)), "F0 F1 B0 F2 B1 F3 B2 B3");
  EXPECT_EQ(text(stage_actions(one, 2, 3, 4)), "F0 B0 F1 B1 F2 B2 F3 B3");
  EXPECT_EQ(text(stage_actions(one, 0, 4, 2)), "F0 F1 B0 B1");
  EXPECT_EQ(text(forward_actions(2)), "F0 F1");
  EXPECT_EQ(text(stage_actions(one, 0, 2, 0)), "");
}

/// Takes turns among the stages, each as far as it comes; returns the most micro-batches that a
/// stage kept at once, or -1 if they end up waiting for each other.
int most_kept(PipelineSchedule schedule, int stage_watched, int stages, int micro_batches) {
  struct Stage {
    std::vector<StageAction> actions;
    std::size_t next = 0;
    int forward = 0;   // micro-batches done
    int backward = 0;  // likewise
  };
  std::vector<Stage> all(static_cast<std::size_t>(stages));
  for (int s = 0; s < stages; ++s)
    all[static_cast<std::size_t>(s)].actions = stage_actions(schedule, s, stages, micro_batches);
  int most = 0;
  bool moved = true;
  while (std::exchange(moved, false)) {
    for (std::size_t s = 0; s < all.size(); ++s) {
      Stage& stage = all[s];
      if (stage.next == stage.actions.size()) continue;
      const StageAction action = stage.actions[stage.next];
      const bool forward = action.kind == StageAction::Kind::forward;
      const bool ready = forward ? s == 0 || all[s - 1].forward > action.micro_batch
                                 : s + 1 == all.size() || all[s + 1].backward > action.micro_batch;
      if (!ready) continue;
      ++(forward ? stage.forward : stage.backward);
      ++stage.next;
      moved = true;
      if (static_cast<int>(s) == stage_watched)
        most = std::max(most, stage.forward - stage.backward);
    }
  }
  for (const Stage& stage : all) {
    if (stage.forward != micro_batches || stage.backward != micro_batches) return -1;
  }
  return most;
}

TEST(ScheduleTest, NoStageWaitsForeverAndOneForwardOneBackwardKeepsFew) {
  for (int stages = 1; stages <= 5; ++stages) {
    for (int micro_batches = 1; micro_batches <= 7; ++micro_batches) {
      for (int stage = 0; stage < stages; ++stage) {
        EXPECT_EQ(most_kept(PipelineSchedule::gpipe, stage, stages, micro_batches), micro_batches);
        EXPECT_EQ(
            most_kept(PipelineSchedule::one_forward_one_backward, stage, stages, micro_batches),
            std::min(micro_batches, stages - stage));
      }
    }
  }
}

TEST(ScheduleTest, EachDirectionTakesTheMicroBatchesInOrder) {
  for (const auto schedule : kSchedules) {
    for (int stage = 0; stage < 3; ++stage) {
      int forward = 0;
      int backward = 0;
      for (const auto& action : stage_actions(schedule, stage, 3, 5)) {
        int& next = action.kind == StageAction::Kind::forward ? forward : backward;
        EXPECT_EQ(action.micro_batch, next++);
      }
    }
  }
}

}  // namespace schedule_test
}  // namespace pagoda
