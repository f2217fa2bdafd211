#include <pagoda/pipeline/schedule.h>

#include <algorithm>

namespace pagoda {

std::vector<StageAction> stage_actions(PipelineSchedule schedule, int stage, int stages,
                                       int micro_batches) {
  // Micro-batches that go forward before the first comes back.
  const int ahead =
      schedule == PipelineSchedule::gpipe ? micro_batches : std::min(micro_batches, stages - stage);
  std::vector<StageAction> actions = forward_actions(ahead);
  for (int i = 0; i < micro_batches; ++i) {
    actions.push_back({StageAction::Kind::backward, i});
    if (ahead + i < micro_batches) actions.push_back({StageAction::Kind::forward, ahead + i});
  }
  return actions;
}

std::vector<StageAction> forward_actions(int micro_batches) {
  std::vector<StageAction> actions;
  for (int i = 0; i < micro_batches; ++i) actions.push_back({StageAction::Kind::forward, i});
  return actions;
}

}  // namespace pagoda
