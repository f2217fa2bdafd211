#include "pipeline/pipeline_run.h"

#include <pagoda/base/error.h>

#include <algorithm>
#include <string>
#include <utility>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/full_like.h>
#include <ATen/record_function.h>

#include "pipeline/stage_output.h"
#include "tower/tower_context.h"

namespace pagoda {
namespace {

/// Another stage has failed, or everything is late: this one has nothing to report.
struct Stopped {};

/// Buffers as they were, after a computation that repeats an earlier one.
class KeepBuffers {
 public:
  explicit KeepBuffers(const Tensors& buffers) : buffers_(buffers) {
    for (const auto& buffer : buffers) values_.push_back(buffer.detach().clone());
  }
  ~KeepBuffers() {
    try {
      restore();
    } catch (...) {
      // On a device that has been lost; what it failed with is on its way to the caller.
    }
  }
  void restore() {
    // As if they had not been written: the graph of the repeated computation may hold them.
    for (std::size_t i = 0; i < values_.size(); ++i) buffers_[i].variable_data().copy_(values_[i]);
    values_.clear();
  }
  KeepBuffers(const KeepBuffers&) = delete;
  KeepBuffers& operator=(const KeepBuffers&) = delete;

 private:
  const Tensors& buffers_;
  Tensors values_;
};

bool any_requires_grad(const Tensors& tensors) {
  for (const auto& tensor : tensors) {
    if (tensor.requires_grad()) return true;
  }
  return false;
}

}  // namespace

PipelineRun::PipelineRun(std::shared_ptr<const StagedReplica> replica, PipelineWork work,
                         const PipelineOptions& options, RandomStreams streams)
    : replica_(std::move(replica)),
      work_(std::move(work)),
      options_(options),
      streams_(streams),
      activations_(replica_->stages.size() - 1),
      gradients_(replica_->stages.size() - 1),
      output_inputs_(replica_->outputs.size()),
      output_gradients_(replica_->outputs.size()),
      output_sums_(replica_->outputs.size()),
      progress_(replica_->stages.size()),
      scores_(static_cast<std::size_t>(work_.micro_batches)) {
  for (auto& progress : progress_) progress.kept.resize(scores_.size());
}

void PipelineRun::run_stage(int stage) {
  Progress& progress = progress_[static_cast<std::size_t>(stage)];
  try {
    const auto plan = actions(stage);
    for (std::size_t i = 0; i < plan.size(); ++i) {
      const auto [kind, micro_batch] = plan[i];
      progress.micro_batch = micro_batch;
      if (kind == StageAction::Kind::backward) {
        backward(stage, micro_batch);
      } else if (kind == StageAction::Kind::output) {
        output(stage, micro_batch);
      } else {
        // Nothing is gained by computing again what is needed next.
        const StageAction own_backward{StageAction::Kind::backward, micro_batch};
        const bool is_next = i + 1 < plan.size() && plan[i + 1] == own_backward;
        forward(stage, micro_batch, options_.checkpoint_activations && !is_next);
      }
    }
    if (splits_output() && trains()) collect_outputs(stage);
  } catch (const Stopped&) {
  } catch (...) {
    progress.error = std::current_exception();
    stop();
  }
  for (auto& kept : progress.kept) kept = {};  // in the thread that made them
  progress.done = true;
}

std::vector<StageAction> PipelineRun::actions(int stage) const {
  const StagePart part{
      .stage = stage,
      .stages = stages(),
      .micro_batches = work_.micro_batches,
      .output = splits_output() ? OutputPlace::every_stage : OutputPlace::last_stage};
  return trains() ? stage_actions(options_.schedule, part) : forward_actions(part);
}

void PipelineRun::stop() {
  const auto close = [](auto& mailboxes) {
    for (auto& mailbox : mailboxes) mailbox.close();
  };
  close(activations_);
  close(gradients_);
  close(output_inputs_);
  close(output_gradients_);
  close(output_sums_);
}

std::vector<FeedScore> PipelineRun::finish() {
  for (std::size_t stage = 0; stage < progress_.size(); ++stage) {
    const Progress& progress = progress_[stage];
    if (!progress.error) continue;
    throw StageFailure(static_cast<int>(stage), progress.micro_batch, progress.phase,
                       progress.error);
  }
  return std::move(scores_);
}

std::vector<int> PipelineRun::late_stages() const {
  std::vector<int> stages;
  for (std::size_t stage = 0; stage < progress_.size(); ++stage) {
    if (!progress_[stage].done && !progress_[stage].waits)
      stages.push_back(static_cast<int>(stage));
  }
  return stages;
}

void PipelineRun::enter(int stage, const char* phase) {
  progress_[static_cast<std::size_t>(stage)].phase = phase;
  if (work_.enter) work_.enter(stage, phase);
}

template <class Letter>
Letter PipelineRun::receive(int stage, Mailbox<Letter>& mailbox) {
  Progress& progress = progress_[static_cast<std::size_t>(stage)];
  progress.waits = true;
  std::optional<Letter> letter = mailbox.take();
  // A stage that is late is found and named by who waits for the whole step.
  if (!letter) throw Stopped{};
  progress.waits = false;
  return *std::move(letter);
}

void PipelineRun::forward(int stage, int micro_batch, bool recompute) {
  const Stage& here = replica_->stages[static_cast<std::size_t>(stage)];
  const auto boundary = static_cast<std::size_t>(stage);
  Tensors inputs;
  if (stage == 0) {
    enter(stage, "feed");
    inputs = work_.inputs(micro_batch);
  } else {
    inputs = unpack(receive(stage, activations_[boundary - 1]), here.device.torch_device());
  }
  enter(stage, "forward");
  RECORD_USER_SCOPE("forward");
  const PrecisionScope precision(work_.precision, here.device);
  at::AutoGradMode record_graph(trains() && !recompute);
  Tensors outputs = compute(stage, micro_batch, inputs);
  if (scores(stage)) {
    outputs = {scored(stage, micro_batch, outputs)};
  } else {
    onward(stage, micro_batch)
        .put(recompute ? parcel_of(outputs, here.trainable || any_requires_grad(inputs))
                       : parcel_of(outputs));
  }
  if (!trains()) return;
  if (recompute) outputs.clear();
  progress_[boundary].kept[static_cast<std::size_t>(micro_batch)] = {std::move(inputs),
                                                                     std::move(outputs)};
}

void PipelineRun::output(int stage, int micro_batch) {
  const auto number = static_cast<std::size_t>(stage);
  const Stage& here = replica_->stages[number];
  const Stage& last = replica_->stages.back();
  const Tensors inputs = unpack(receive(stage, output_inputs_[number]), here.device.torch_device());
  enter(stage, "forward");
  if (micro_batch < stages()) renew_output(*replica_, stage);  // the stage's first
  at::AutoGradMode record_graph(trains());
  const int layer = last.first_layer + static_cast<int>(last.layers.size());
  reseed_this_tower(streams_.micro_batch(micro_batch, layer));
  at::Tensor loss;
  {
    RECORD_USER_SCOPE("forward");
    const PrecisionScope precision(work_.precision, here.device);
    loss = scored(stage, micro_batch, replica_->outputs[number].layer.forward(inputs));
  }
  if (!trains()) return;
  enter(stage, "backward");
  RECORD_USER_SCOPE("backward");
  backward_from({loss}, {share_of(micro_batch, loss)});
  output_gradients_[number].put(take_gradients(inputs));
}

void PipelineRun::collect_outputs(int stage) {
  const auto number = static_cast<std::size_t>(stage);
  const Tensors& parameters = replica_->outputs[number].layer.tensors;
  if (!is_last(stage)) return output_sums_[number].put(take_gradients(parameters));
  const auto used = std::min(number, static_cast<std::size_t>(work_.micro_batches));
  for (std::size_t other = 0; other < used; ++other)
    add_gradients(parameters, receive(stage, output_sums_[other]));
}

void PipelineRun::backward(int stage, int micro_batch) {
  const Stage& here = replica_->stages[static_cast<std::size_t>(stage)];
  const auto boundary = static_cast<std::size_t>(stage);
  Kept kept = std::exchange(progress_[boundary].kept[static_cast<std::size_t>(micro_batch)], {});
  Tensors gradients;
  if (!scores(stage)) {
    gradients = receive(stage, homeward(stage, micro_batch));
    for (auto& gradient : gradients) {
      if (gradient.defined()) gradient = gradient.to(here.device.torch_device());
    }
  }
  enter(stage, "backward");
  RECORD_USER_SCOPE("backward");
  if (kept.outputs.empty()) kept.outputs = compute_again(stage, micro_batch, kept.inputs);
  if (scores(stage)) gradients = {share_of(micro_batch, kept.outputs[0])};
  backward_from(kept.outputs, gradients);
  if (stage > 0) gradients_[boundary - 1].put(take_gradients(kept.inputs));
}

Tensors PipelineRun::compute(int stage, int micro_batch, Tensors x) const {
  const Stage& here = replica_->stages[static_cast<std::size_t>(stage)];
  int number = here.first_layer;
  for (const Layer& layer : here.layers) {
    reseed_this_tower(streams_.micro_batch(micro_batch, number++));
    x = layer.forward(x);
  }
  return x;
}

Tensors PipelineRun::compute_again(int stage, int micro_batch, const Tensors& inputs) {
  const Stage& here = replica_->stages[static_cast<std::size_t>(stage)];
  KeepBuffers keep(here.buffers);
  const PrecisionScope precision(work_.precision, here.device);
  Tensors outputs = compute(stage, micro_batch, inputs);
  if (scores(stage)) outputs = {widened(work_.score(micro_batch, stage, outputs).loss)};
  keep.restore();
  return outputs;
}

at::Tensor PipelineRun::scored(int stage, int micro_batch, const Tensors& outputs) {
  const Scored scored = work_.score(micro_batch, stage, outputs);
  check_loss(scored);
  if (at::GradMode::is_enabled()) check_graph(scored.loss);  // not where it is computed again
  scores_[static_cast<std::size_t>(micro_batch)] = numbers_of(scored);
  return widened(scored.loss);
}

at::Tensor PipelineRun::share_of(int micro_batch, const at::Tensor& loss) const {
  return at::full_like(loss, work_.shares[static_cast<std::size_t>(micro_batch)]);
}

Mailbox<Parcel>& PipelineRun::onward(int stage, int micro_batch) {
  if (!is_last(stage)) return activations_[static_cast<std::size_t>(stage)];
  return output_inputs_[static_cast<std::size_t>(
      output_stage(OutputPlace::every_stage, stages(), micro_batch))];
}

Mailbox<Tensors>& PipelineRun::homeward(int stage, int micro_batch) {
  if (!is_last(stage)) return gradients_[static_cast<std::size_t>(stage)];
  return output_gradients_[static_cast<std::size_t>(
      output_stage(OutputPlace::every_stage, stages(), micro_batch))];
}

}  // namespace pagoda
