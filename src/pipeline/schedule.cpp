#include <pagoda/pipeline/schedule.h>

#include <algorithm>
#include <utility>

namespace pagoda {
namespace {

using Kind = StageAction::Kind;

/// A stage's actions as they are added.
class Plan {
 public:
  explicit Plan(const StagePart& part) : part_(part) {}

  void forward_until(int micro_batch) {
    for (; forward_ < std::min(micro_batch, part_.micro_batches); ++forward_)
      actions_.push_back({Kind::forward, forward_});
  }
  void backward(int micro_batch) { actions_.push_back({Kind::backward, micro_batch}); }
  void output(int micro_batch) {
    if (part_.output == OutputPlace::every_stage && micro_batch < part_.micro_batches &&
        output_stage(part_.output, part_.stages, micro_batch) == part_.stage)
      actions_.push_back({Kind::output, micro_batch});
  }
  void outputs() {
    for (int i = 0; i < part_.micro_batches; ++i) output(i);
  }
  std::vector<StageAction> actions() && { return std::move(actions_); }

 private:
  const StagePart part_;
  int forward_ = 0;
  std::vector<StageAction> actions_;
};

}  // namespace

int output_stage(OutputPlace place, int stages, int micro_batch) {
  return place == OutputPlace::last_stage ? stages - 1 : micro_batch % stages;
}

std::vector<StageAction> stage_actions(PipelineSchedule schedule, const StagePart& part) {
  Plan plan(part);
  if (schedule == PipelineSchedule::gpipe) {
    plan.forward_until(part.micro_batches);
    plan.outputs();
    for (int i = 0; i < part.micro_batches; ++i) plan.backward(i);
    return std::move(plan).actions();
  }
  // An output layer on every stage is one stage more, which all of them take part in. Its
  // micro-batch m is wanted when the last stage has sent m and turns to backward of m - 1.
  const int until_output = part.stages - part.stage;
  const int ahead = until_output + (part.output == OutputPlace::every_stage ? 1 : 0);
  plan.forward_until(until_output);
  plan.output(0);
  plan.forward_until(ahead);
  for (int i = 0; i < part.micro_batches; ++i) {
    plan.output(i + 1);
    plan.backward(i);
    plan.forward_until(ahead + i + 1);
  }
  return std::move(plan).actions();
}

std::vector<StageAction> forward_actions(const StagePart& part) {
  Plan plan(part);
  plan.forward_until(part.micro_batches);
  plan.outputs();
  return std::move(plan).actions();
}

}  // namespace pagoda
