#pragma once

#include <pagoda/pipeline/pipeline.h>
#include <pagoda/pipeline/staged_towers.h>
#include <pagoda/train/evaluate.h>
#include <pagoda/train/sync_step.h>

#include <functional>
#include <utility>
#include <vector>

namespace pagoda {
namespace detail {

inline Tensors as_tensors(at::Tensor tensor) { return {std::move(tensor)}; }
inline Tensors as_tensors(Tensors tensors) { return tensors; }

/// The feed with all its tensors on the device of a stage.
template <class Model, Feed F>
F feed_on_stage(const StagedTowers<Model>& towers, const F& feed, int tower, int stage) {
  const auto device = towers.stages().device(tower, stage).torch_device();
  return feed.with_tensors(
      [&](const at::Tensor& tensor) { return tensor.defined() ? tensor.to(device) : tensor; });
}

/// What a tower's pipeline computes: its feeds are the micro-batches.
template <class Model, Feed F, class Inputs, class Loss>
PipelineWork pipeline_work(StagedTowers<Model>& towers, int tower, std::vector<F> feeds,
                           Inputs inputs, Loss loss) {
  PipelineWork work{.micro_batches = static_cast<int>(feeds.size())};
  work.inputs = [&towers, tower, feeds, inputs](int number) mutable {
    return as_tensors(inputs(feeds[static_cast<std::size_t>(number)].with_tensors(
        [&](const at::Tensor& tensor) { return towers.on_tower(tensor, tower); })));
  };
  // Each stage has a loss function of its own: several may compute at once.
  std::vector<Loss> losses(static_cast<std::size_t>(towers.stages().count()), loss);
  work.score = [&towers, tower, feeds = std::move(feeds), losses](int number, int stage,
                                                                  const Tensors& outputs) mutable {
    const F feed = feed_on_stage(towers, feeds[static_cast<std::size_t>(number)], tower, stage);
    Loss& own = losses[static_cast<std::size_t>(stage)];
    return as_scored(own(towers.output_model(tower, stage), outputs, feed));
  };
  return work;
}

}  // namespace detail

/// A SyncStep whose towers are pipelines: every feed is a micro-batch, and several of them are in
/// flight, each on another stage.
///
/// Everything after backward is SyncStep's: gradients are summed over micro-batches and towers,
/// clipped, and the parameters updated once. N towers of S stages with M micro-batches each compute
/// what one device computes with all samples; the schedule changes no bit, nor does the cut of a
/// chain of layers whose output layer is on the last stage. BatchNorm
/// normalises each micro-batch by itself, as SyncStep does with several feeds for a tower.
///
/// Give each tower several feeds (`BatchesOptions::feeds_per_tower`): with M of them, S stages are
/// busy M / (M + S - 1) of the time.
///
/// Threads, owns: as SyncStep.
/// Fails: StageError when something throws in a stage, with the guarantees of SyncStep; DeviceError
/// that names the late stage.
///
/// Example:
///     auto towers = make_staged_towers(select_devices("4"), [] { return LeNet5(); },
///                                      {.stages = 2});
///     PipelineStep step(towers, Adam{.learning_rate = 1e-3});
///     for (auto& feeds : batches(data, towers.size(), {.batch_size = 16, .feeds_per_tower = 4}))
///       step.run(feeds, [](const Batch& batch) { return batch.input; },
///                [](LeNet5&, const Tensors& outputs, const Batch& batch) {
///                  return torch::nn::functional::cross_entropy(outputs[0], batch.target);
///                });
template <class Model>
class PipelineStep : public SyncStepBase {
 public:
  PipelineStep(StagedTowers<Model>& towers, const OptimizerOptions& optimizer,
               const SyncStepOptions& options = {}, const PipelineOptions& pipeline = {})
      : SyncStepBase(towers, optimizer, options),
        towers_(towers),
        pipeline_(towers, towers.stages(), pipeline) {}

  PipelineStep(StagedTowers<Model>& towers, torch::optim::Optimizer& optimizer,
               const SyncStepOptions& options = {}, const PipelineOptions& pipeline = {})
      : SyncStepBase(towers, optimizer, options),
        towers_(towers),
        pipeline_(towers, towers.stages(), pipeline) {}

  /// `inputs(feed)` gives what the first layer takes, a tensor or a list of them, with the feed on
  /// the first stage's device. `loss(model, outputs, feed)` returns the mean loss of the feed, or a
  /// Scored, with outputs and feed on the last stage's device (or another's: OutputPlace); of the
  /// model it may use the tensors of the last layer. Towers and stages call copies of both at once.
  template <Feed F, class Inputs, class Loss>
  StepResult run(const std::vector<F>& feeds, Inputs inputs, Loss loss) {
    std::vector<FeedInfo> infos;
    for (const auto& feed : feeds) infos.push_back({feed.weight(), feed.sample_numbers()});
    pipeline_.note_step(count());
    try {
      // By value: a stage that is late outlives this call.
      return run_towers(std::move(infos), [this, feeds, inputs, loss](
                                              const std::vector<FeedShare>& own, TowerJob& job) {
        std::vector<F> micro_batches;
        std::vector<double> shares;
        for (const auto& [feed, share] : own) {
          micro_batches.push_back(feeds[feed]);
          shares.push_back(share);
        }
        PipelineWork work =
            detail::pipeline_work(towers_, job.tower, std::move(micro_batches), inputs, loss);
        work.step = count();
        work.shares = std::move(shares);
        work.enter = [this, tower = job.tower](int stage, const char* phase) {
          TowerJob here{.tower = tower, .phase = phase, .stage = stage};
          enter(here, phase);
        };
        return pipeline_.run(job.tower, std::move(work));
      });
    } catch (const Error&) {
      pipeline_.explain();
    }
  }

 protected:
  /// All stages of a tower take part.
  void run_shares(const TowerJob& job,
                  const std::function<void(int share, int shares)>& work) override {
    const int stages = towers_.stages().count();
    const int shares = stages * towers_.size();
    towers_.stages().run(job.tower, [work, first = job.tower * stages, shares](int stage) {
      work(first + stage, shares);
    });
  }

 private:
  StagedTowers<Model>& towers_;
  Pipeline pipeline_;
};

/// Scores every batch of `data` on the pipelines of all towers, without gradients, the models in
/// evaluation mode. `inputs` and `loss` are those of PipelineStep::run.
/// Fails: StageError when something throws in a stage.
template <class Model, Feed F, class Inputs, class Loss>
Evaluation evaluate(StagedTowers<Model>& towers, FeedStream<F> data, Inputs inputs, Loss loss) {
  const EvaluationPhase phase(towers);
  Pipeline pipeline(towers, towers.stages(), {});
  Evaluation total;
  while (const StepFeeds<F>* feeds = data.next()) {
    std::vector<Evaluation> results(static_cast<std::size_t>(towers.size()));
    try {
      towers.run({.name = "evaluation"}, [&](TowerJob& job) {
        std::vector<F> own;
        for (auto feed = static_cast<std::size_t>(job.tower); feed < feeds->size();
             feed += static_cast<std::size_t>(towers.size()))
          own.push_back((*feeds)[feed]);
        if (own.empty()) return;
        const auto scores =
            pipeline.run(job.tower, detail::pipeline_work(towers, job.tower, own, inputs, loss));
        for (std::size_t i = 0; i < own.size(); ++i) {
          results[static_cast<std::size_t>(job.tower)].add(Evaluation{
              .loss = scores[i].loss, .metrics = scores[i].metrics, .weight = own[i].weight()});
        }
      });
    } catch (const Error&) {
      pipeline.explain();
    }
    for (const auto& result : results) total.add(result);
  }
  return total;
}

}  // namespace pagoda
