#pragma once

#include <pagoda/pipeline/pipeline.h>
#include <pagoda/pipeline/staged_towers.h>
#include <pagoda/train/evaluate.h>
#include <pagoda/train/step.h>

#include <memory>
#include <utility>
#include <vector>

namespace pagoda {
namespace detail {

std::shared_ptr<StepEngine> make_pipeline_engine(TowerGroup& towers, const AnyOptimizer& optimizer,
                                                 const StepOptions& options,
                                                 std::shared_ptr<Pipeline> pipeline);

inline Tensors as_tensors(at::Tensor tensor) { return {std::move(tensor)}; }
inline Tensors as_tensors(Tensors tensors) { return tensors; }

/// What a tower's pipeline computes, with its feeds as micro-batches. It owns what it needs: a late
/// stage outlives the call.
template <class Model, Feed F, class Inputs, class Loss>
PipelineWork pipeline_work(const StageModels<Model>& models, int tower, std::vector<F> feeds,
                           Inputs inputs, Loss loss) {
  PipelineWork work{.micro_batches = static_cast<int>(feeds.size())};
  work.inputs = [models, tower, feeds, inputs](int number) mutable {
    return as_tensors(inputs(models.on_tower(feeds[static_cast<std::size_t>(number)], tower)));
  };
  // Each stage has its own copy of the loss function: several may run at once.
  std::vector<Loss> losses(static_cast<std::size_t>(models.stages().count()), loss);
  work.score = [models, tower, feeds = std::move(feeds), losses](int number, int stage,
                                                                 const Tensors& outputs) mutable {
    const F feed = models.on_stage(feeds[static_cast<std::size_t>(number)], tower, stage);
    Loss& own = losses[static_cast<std::size_t>(stage)];
    return as_scored(own(models.output_model(tower, stage), outputs, feed));
  };
  return work;
}

}  // namespace detail

/// A SyncStep whose towers are pipelines: every feed is a micro-batch, and several of them are in
/// flight, each on a different stage.
///
/// Everything after backward is as in SyncStep: gradients are summed over micro-batches and towers
/// and clipped, and the parameters are updated once. N towers of S stages with M micro-batches each
/// compute what one device computes with all samples. The schedule changes no bit; nor does the
/// cut, if the layers are a chain and the output layer is on the last stage. BatchNorm normalises
/// each micro-batch by itself, as SyncStep does when a tower has several feeds.
///
/// Give each tower several feeds (`BatchesOptions::feeds_per_tower`): with M of them, S stages are
/// busy M / (M + S - 1) of the time.
///
/// Threads, owns: as SyncStep.
/// Fails: StageError when something throws in a stage, with the guarantees of SyncStep; DeviceError
/// naming the late stages.
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
class PipelineStep : public Step {
 public:
  /// With a built-in optimizer, one of your own, or one of LibTorch's: see AnyOptimizer.
  PipelineStep(StagedTowers<Model>& towers, const AnyOptimizer& optimizer,
               const StepOptions& options = {}, const PipelineOptions& pipeline = {})
      : PipelineStep(
            towers, optimizer, options,
            std::make_shared<Pipeline>(towers.replicas(), towers.shared_stages(), pipeline)) {}

  /// `inputs(feed)` returns what the first layer takes, a tensor or a list of them; the feed is on
  /// the first stage's device. `loss(model, outputs, feed)` returns the mean loss of the feed, or a
  /// Scored; outputs and feed are on the last stage's device (or another's: OutputPlace), and of
  /// the model it may use only the tensors of the last layer. Towers and stages call copies of both
  /// at once.
  template <Feed F, class Inputs, class Loss>
  StepResult run(const std::vector<F>& feeds, Inputs inputs, Loss loss) {
    // By value: a late stage outlives this call.
    auto compute = [pipeline = pipeline_, models = towers_.stage_models(), step = count(), feeds,
                    inputs, loss](const std::vector<detail::FeedShare>& own, TowerJob& job) {
      std::vector<F> micro_batches;
      std::vector<double> shares;
      for (const auto& [feed, share] : own) {
        micro_batches.push_back(feeds[feed]);
        shares.push_back(share);
      }
      PipelineWork work =
          detail::pipeline_work(models, job.tower, std::move(micro_batches), inputs, loss);
      work.step = step;
      work.shares = std::move(shares);
      work.enter = [job](int stage, const char* phase) {
        TowerJob here = job;
        here.stage = stage;
        here.enter(phase);
      };
      return pipeline->run(job.tower, std::move(work));
    };
    return run_towers(detail::infos_of(feeds), std::move(compute));
  }

 private:
  PipelineStep(StagedTowers<Model>& towers, const AnyOptimizer& optimizer,
               const StepOptions& options, std::shared_ptr<Pipeline> pipeline)
      : Step(detail::make_pipeline_engine(towers, optimizer, options, pipeline)),
        towers_(towers),
        pipeline_(std::move(pipeline)) {}

  StagedTowers<Model>& towers_;
  std::shared_ptr<Pipeline> pipeline_;
};

/// Scores every batch of `data` on the pipelines of all towers, without gradients and with the
/// models in evaluation mode. `inputs` and `loss` are as in PipelineStep::run.
/// Fails: StageError when something throws in a stage.
template <class Model, Feed F, class Inputs, class Loss>
Evaluation evaluate(StagedTowers<Model>& towers, FeedStream<F> data, Inputs inputs, Loss loss) {
  const EvaluationPhase phase(towers);
  const auto pipeline = std::make_shared<Pipeline>(towers.replicas(), towers.shared_stages());
  Evaluation total;
  while (const StepFeeds<F>* feeds = data.next()) {
    // By value: a late stage outlives this call.
    auto score = [pipeline, models = towers.stage_models(), all = std::vector<F>(*feeds), inputs,
                  loss](int tower) {
      std::vector<F> own;
      for (const std::size_t feed : feeds_of(tower, models.size(), all.size()))
        own.push_back(all[feed]);
      Evaluation result;
      if (own.empty()) return result;
      const auto scores =
          pipeline->run(tower, detail::pipeline_work(models, tower, own, inputs, loss));
      for (std::size_t i = 0; i < own.size(); ++i) {
        result.add(Evaluation{
            .loss = scores[i].loss, .metrics = scores[i].metrics, .weight = own[i].weight()});
      }
      return result;
    };
    try {
      total.add(detail::evaluate_towers(towers, std::move(score)));
    } catch (const Error&) {
      pipeline->explain(towers);
    }
  }
  return total;
}

}  // namespace pagoda
