#include "pipeline/pipeline_run.h"

#include <pagoda/base/error.h>

#include <string>
#include <utility>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/full_like.h>
#include <ATen/record_function.h>

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
    // As if they had not been written: the graph of the repeated computation may hold them.
    for (std::size_t i = 0; i < buffers_.size(); ++i) buffers_[i].variable_data().copy_(values_[i]);
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
      progress_(replica_->stages.size()),
      scores_(static_cast<std::size_t>(work_.micro_batches)) {
  for (auto& progress : progress_) progress.kept.resize(scores_.size());
}

void PipelineRun::run_stage(int stage) {
  Progress& progress = progress_[static_cast<std::size_t>(stage)];
  const auto actions = trains()
                           ? stage_actions(options_.schedule, stage,
                                           static_cast<int>(progress_.size()), work_.micro_batches)
                           : forward_actions(work_.micro_batches);
  try {
    for (std::size_t i = 0; i < actions.size(); ++i) {
      progress.micro_batch = actions[i].micro_batch;
      if (actions[i].kind == StageAction::Kind::backward) {
        backward(stage, actions[i].micro_batch);
      } else {
        // Nothing is gained by computing again what is needed next.
        const StageAction own_backward{StageAction::Kind::backward, actions[i].micro_batch};
        const bool is_next = i + 1 < actions.size() && actions[i + 1] == own_backward;
        forward(stage, actions[i].micro_batch, options_.checkpoint_activations && !is_next);
      }
    }
  } catch (const Stopped&) {
  } catch (...) {
    progress.error = std::current_exception();
    stop();
  }
  for (auto& kept : progress.kept) kept = {};  // in the thread that made them
  progress.done = true;
}

void PipelineRun::stop() {
  for (auto& mailbox : activations_) mailbox.close();
  for (auto& mailbox : gradients_) mailbox.close();
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
  at::AutoGradMode record_graph(trains() && !recompute);
  Tensors outputs = compute(stage, micro_batch, inputs);
  if (is_last(stage)) {
    const Scored scored = work_.score(micro_batch, outputs);
    check_loss(scored);
    scores_[static_cast<std::size_t>(micro_batch)] = numbers_of(scored);
    outputs = {scored.loss};
  } else {
    activations_[boundary].put(recompute
                                   ? parcel_of(outputs, here.trainable || any_requires_grad(inputs))
                                   : parcel_of(outputs));
  }
  if (!trains()) return;
  if (recompute) outputs.clear();
  progress_[boundary].kept[static_cast<std::size_t>(micro_batch)] = {std::move(inputs),
                                                                     std::move(outputs)};
}

void PipelineRun::backward(int stage, int micro_batch) {
  const Stage& here = replica_->stages[static_cast<std::size_t>(stage)];
  const auto boundary = static_cast<std::size_t>(stage);
  Kept kept = std::exchange(progress_[boundary].kept[static_cast<std::size_t>(micro_batch)], {});
  Tensors gradients;
  if (!is_last(stage)) {
    gradients = receive(stage, gradients_[boundary]);
    for (auto& gradient : gradients) {
      if (gradient.defined()) gradient = gradient.to(here.device.torch_device());
    }
  }
  enter(stage, "backward");
  RECORD_USER_SCOPE("backward");
  if (kept.outputs.empty()) kept.outputs = compute_again(stage, micro_batch, kept.inputs);
  if (is_last(stage)) {
    gradients = {
        at::full_like(kept.outputs[0], work_.shares[static_cast<std::size_t>(micro_batch)])};
  }
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
  const KeepBuffers keep(replica_->stages[static_cast<std::size_t>(stage)].buffers);
  Tensors outputs = compute(stage, micro_batch, inputs);
  if (is_last(stage)) outputs = {work_.score(micro_batch, outputs).loss};
  return outputs;
}

}  // namespace pagoda
