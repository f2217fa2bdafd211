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
using Kind = StageAction::Kind;

constexpr auto kOneOne = PipelineSchedule::one_forward_one_backward;
constexpr auto kGpipe = PipelineSchedule::gpipe;
constexpr auto kEvery = OutputPlace::every_stage;

/// "F0 F1 B0 B1"; an output layer is "O".
std::string text(const std::vector<StageAction>& actions) {
  std::string result;
  for (const auto& action : actions) {
    result += (result.empty() ? "" : " ");
    result += action.kind == Kind::forward ? "F" : action.kind == Kind::output ? "O" : "B";
    result += std::to_string(action.micro_batch);
  }
  return result;
}

TEST(ScheduleTest, KnownSchedules) {
  EXPECT_EQ(text(stage_actions(kGpipe, {0, 2, 3})), "F0 F1 F2 B0 B1 B2");
  EXPECT_EQ(text(stage_actions(kOneOne, {0, 3, 4})), "F0 F1 F2 B0 F3 B1 B2 B3");
  EXPECT_EQ(text(stage_actions(kOneOne, {1, 3, 4})), "F0 F1 B0 F2 B1 F3 B2 B3");
  EXPECT_EQ(text(stage_actions(kOneOne, {2, 3, 4})), "F0 B0 F1 B1 F2 B2 F3 B3");
  EXPECT_EQ(text(stage_actions(kOneOne, {0, 4, 2})), "F0 F1 B0 B1");
  EXPECT_EQ(text(forward_actions({0, 2, 2})), "F0 F1");
  EXPECT_EQ(text(stage_actions(kOneOne, {0, 2, 0})), "");
}

TEST(ScheduleTest, KnownSchedulesOfAnOutputLayerOnEveryStage) {
  EXPECT_EQ(text(stage_actions(kGpipe, {0, 2, 3, kEvery})), "F0 F1 F2 O0 O2 B0 B1 B2");
  EXPECT_EQ(text(stage_actions(kGpipe, {1, 2, 3, kEvery})), "F0 F1 F2 O1 B0 B1 B2");
  EXPECT_EQ(text(stage_actions(kOneOne, {0, 2, 4, kEvery})), "F0 F1 O0 F2 B0 F3 O2 B1 B2 B3");
  EXPECT_EQ(text(stage_actions(kOneOne, {1, 2, 4, kEvery})), "F0 F1 O1 B0 F2 B1 F3 O3 B2 B3");
  EXPECT_EQ(text(stage_actions(kOneOne, {0, 1, 2, kEvery})), "F0 O0 F1 O1 B0 B1");
  EXPECT_EQ(text(stage_actions(kOneOne, {1, 3, 1, kEvery})), "F0 B0");
  EXPECT_EQ(text(forward_actions({1, 2, 4, kEvery})), "F0 F1 F2 F3 O1 O3");
}

/// Takes turns among the stages, each as far as it comes; returns the most micro-batches that a
/// stage kept at once, or -1 if they end up waiting for each other.
int most_kept(PipelineSchedule schedule, const StagePart& watched) {
  const auto [stage_watched, stages, micro_batches, place] = watched;
  struct Stage {
    std::vector<StageAction> actions;
    std::size_t next = 0;
    int forward = 0;   // micro-batches done
    int backward = 0;  // likewise
  };
  std::vector<char> output_done(static_cast<std::size_t>(micro_batches));
  std::vector<Stage> all(static_cast<std::size_t>(stages));
  for (int s = 0; s < stages; ++s)
    all[static_cast<std::size_t>(s)].actions =
        stage_actions(schedule, {s, stages, micro_batches, place});
  int most = 0;
  bool moved = true;
  while (std::exchange(moved, false)) {
    for (std::size_t s = 0; s < all.size(); ++s) {
      Stage& stage = all[s];
      if (stage.next == stage.actions.size()) continue;
      const StageAction action = stage.actions[stage.next];
      const bool forward = action.kind == Kind::forward;
      char& output = output_done[static_cast<std::size_t>(action.micro_batch)];
      const bool after_last = place == OutputPlace::last_stage || output != 0;
      const bool ready = forward ? s == 0 || all[s - 1].forward > action.micro_batch
                         : action.kind == Kind::output ? all.back().forward > action.micro_batch
                         : s + 1 == all.size()         ? after_last
                                                       : all[s + 1].backward > action.micro_batch;
      if (!ready) continue;
      ++stage.next;
      moved = true;
      if (action.kind == Kind::output) {
        output = 1;
        continue;
      }
      ++(forward ? stage.forward : stage.backward);
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
        for (const auto output : {OutputPlace::last_stage, OutputPlace::every_stage}) {
          const StagePart part{stage, stages, micro_batches, output};
          const int more = output == OutputPlace::every_stage ? 1 : 0;
          EXPECT_EQ(most_kept(kGpipe, part), micro_batches);
          EXPECT_EQ(most_kept(kOneOne, part), std::min(micro_batches, stages - stage + more));
        }
      }
    }
  }
}

TEST(ScheduleTest, EachDirectionTakesTheMicroBatchesInOrder) {
  for (const auto schedule : kSchedules) {
    for (int stage = 0; stage < 3; ++stage) {
      int forward = 0;
      int backward = 0;
      int output = stage;  // then every third
      for (const auto& action : stage_actions(schedule, {stage, 3, 5, kEvery})) {
        int& next = action.kind == Kind::forward  ? forward
                    : action.kind == Kind::output ? output
                                                  : backward;
        EXPECT_EQ(action.micro_batch, next);
        next += action.kind == Kind::output ? 3 : 1;
      }
      EXPECT_EQ(forward, 5);
      EXPECT_EQ(backward, 5);
      EXPECT_GE(output, 5);
    }
  }
}

}  // namespace schedule_test
}  // namespace pagoda
