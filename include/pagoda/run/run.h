#pragma once

#include <pagoda/pipeline/pipeline_step.h>
#include <pagoda/run/run_parts.h>
#include <pagoda/train/averaged_parameters.h>
#include <pagoda/train/module_graph.h>
#include <pagoda/train/sync_step.h>

#include <concepts>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace pagoda {

/// The loss of a model that names its layers (`model->layers()`), in two forms, so that the model
/// can be cut into stages. A run without stages uses only `whole`.
///
/// Example: `LayeredLoss{classify, images_of, classify_outputs}`
template <class Whole, class Inputs, class Outputs>
struct LayeredLoss {
  Whole whole;      ///< `whole(model, feed)`: mean loss of the feed, or a Scored
  Inputs inputs;    ///< `inputs(feed)`: what the first layer takes
  Outputs outputs;  ///< `outputs(model, outputs, feed)`: same loss, from the last layer's outputs
};
template <class Whole, class Inputs, class Outputs>
LayeredLoss(Whole, Inputs, Outputs) -> LayeredLoss<Whole, Inputs, Outputs>;

namespace detail {

template <class Loss>
inline constexpr bool is_layered = false;
template <class Whole, class Inputs, class Outputs>
inline constexpr bool is_layered<LayeredLoss<Whole, Inputs, Outputs>> = true;

template <class Model>
concept HasLayers = requires(Model& model) {
  model->layers();
};

template <class Loss>
auto& whole_loss(Loss& loss) {
  if constexpr (is_layered<Loss>) {
    return loss.whole;
  } else {
    return loss;
  }
}

[[noreturn]] void refuse_stages();

}  // namespace detail

/// A whole run of a model: everything that `pagoda train` does around the steps. It builds devices,
/// towers and step as the options say. `train` resumes the run in its directory if there is one
/// (bit for bit, even if it was killed), validates, logs, shows progress, writes TensorBoard's
/// files and checkpoints, and ends after a number of steps or epochs, after some time, on a signal,
/// or by early stopping.
///
/// It is assembled from parts that can be used on their own: Towers, SyncStep, FeedSource, Loop,
/// RunDirectory, CheckpointStore, EventWriter.
///
/// Threads: one coordinating thread, which also calls hooks and tasks. Loss functions are called by
/// all towers at once, and must own what they use.
/// Fails: UsageError when the options contradict each other or the directory holds another run;
/// DataError when that run has another model or other data; IoError when something cannot be
/// written; TowerError when something throws on a tower; WorldError when another process fails.
///
/// Example:
///     Run run({.epochs = 20, .out = "runs/spiral"}, [] { return SpiralNet(); });
///     run.train(train_set, validation_set, [](SpiralNet& model, const Batch& batch) {
///       return torch::nn::functional::cross_entropy(model(batch.input), batch.target);
///     });
template <class Model>
class Run {
 public:
  /// `make_model` must own what it uses (see ModelFactory).
  template <class MakeModel>
  Run(RunOptions options, MakeModel make_model)
      : options_(checked(std::move(options))),
        devices_(options_.devices),
        share_(tower_share(options_.world.get(),
                           tower_count(options_.stages, devices_.list().size()))),
        step_options_(pagoda::step_options(options_)) {
    set_matmul_precision(options_.matmul);
    feed_size(options_, share_.total);  // these fail before anything is built
    init_options(options_);
    if (!options_.stages.is_staged()) {
      // Built in place: towers do not move.
      whole_.reset(new Towers<Model>(
          make_towers(devices_.list(), std::move(make_model), own_tower_options())));
      return;
    }
    async_options(options_);  // throws for what stages do not support
    if constexpr (detail::HasLayers<Model>) {
      staged_.reset(new StagedTowers<Model>(make_staged_towers(
          devices_.list(), std::move(make_model), options_.stages.cut, own_tower_options())));
    } else {
      detail::refuse_stages();
    }
  }

  /// The options as they were given.
  const RunOptions& options() const { return options_; }
  /// The towers that are trained.
  Towers<Model>& towers() const { return staged_ ? *staged_ : *whole_; }
  /// Which of the towers of all processes belong to this one: batches are made for these.
  const TowerShare& share() const { return share_; }
  /// The towers with their stages; null without stages.
  StagedTowers<Model>* staged_towers() const { return staged_.get(); }

  /// The step options that follow from the run's; change them before `train` where those are not
  /// enough.
  StepOptions& step_options() { return step_options_; }

  /// Uses a LibTorch optimizer over `towers().parameters()` instead of a built-in one; it must
  /// outlive the calls of `train`. Its state is saved with the run. `step_options().learning_rate`
  /// may give it a schedule.
  void use(torch::optim::Optimizer& optimizer) { own_optimizer_ = &optimizer; }

  /// Calls the hook after the steps at which the interval is due. What it changes in the state must
  /// depend on the step only, so that a resumed run makes the same changes.
  void every(Interval interval, Loop::Hook hook) { hooks_.push_back({interval, std::move(hook)}); }

  /// Sets which metric of a validation decides which checkpoint is the best; by default, the loss.
  void watch(std::string metric, Better better) {
    watched_ = std::move(metric);
    better_ = better;
  }

  /// Trains on one data set and validates on another, with the same loss.
  template <class F, class Loss>
  RunSummary train(const DatasetOf<F>& data, const DatasetOf<F>& validation, Loss loss);

  /// Trains on feeds of any kind. `loss(model, feed)` is as for SyncStep::run; or pass a
  /// LayeredLoss.
  template <class F, class Loss>
  RunSummary train(FeedSource<F>& source, Loss loss, RunTask& task);

  /// The loss and the metrics over a stream of feeds, computed on all towers and their stages.
  /// Where several processes train together, each passes the feeds of its share, and all of them
  /// get the means over all feeds.
  template <Feed F, class Loss>
  Evaluation evaluate(FeedStream<F> feeds, Loss loss) const;

 private:
  template <class F, class Loss>
  class DatasetTask;

  TowerOptions own_tower_options() const {
    TowerOptions own = tower_options(options_);
    own.first_tower = share_.first;
    return own;
  }

  template <Feed F, class Loss>
  Evaluation evaluate_own(FeedStream<F> feeds, Loss loss) const;

  /// Calls `use` with the user's optimizer, or else with the one that the options choose for a run
  /// of that many steps per epoch.
  template <class Use>
  auto with_optimizer(std::int64_t steps_per_epoch, Use use) const {
    if (own_optimizer_ != nullptr) return use(*own_optimizer_);
    return use(chosen_optimizer(options_.optimizer, run_steps(options_, steps_per_epoch)));
  }

  template <class Optimizer>
  std::unique_ptr<ModelStep<Model>> make_step(Optimizer&& optimizer) const {
    if (const auto async = async_options(options_))
      return std::make_unique<AsyncStep<Model>>(*whole_, optimizer, step_options_, *async);
    return std::make_unique<SyncStep<Model>>(*whole_, optimizer, step_options_);
  }

  template <class TowersOrStages>
  RunSummary train_on(TowersOrStages& towers, Step& step, detail::RunSource source, RunTask& task) {
    detail::RunParts parts{.towers = towers,
                           .step = step,
                           .stages = staged_ ? &staged_->stages() : nullptr,
                           .task = task,
                           .source = std::move(source),
                           .share = share_,
                           .hooks = hooks_};
    for (std::string warning :
         {devices_.warning(), slow_precision_text(options_.precision, devices_.list())}) {
      if (!warning.empty()) parts.warnings.push_back(std::move(warning));
    }
    return detail::train(options_, std::move(parts));
  }

  const RunOptions options_;
  const ChosenDevices devices_;
  const TowerShare share_;
  StepOptions step_options_;
  std::unique_ptr<Towers<Model>> whole_;         // one of these two
  std::unique_ptr<StagedTowers<Model>> staged_;  //
  torch::optim::Optimizer* own_optimizer_ = nullptr;
  std::vector<RunHook> hooks_;
  std::string watched_ = "loss";
  Better better_ = Better::less;
};

template <class MakeModel>
Run(RunOptions, MakeModel)
    -> Run<detail::ModelOf<std::remove_cvref_t<std::invoke_result_t<MakeModel&>>>>;

/// Validates a run on a data set.
template <class Model>
template <class F, class Loss>
class Run<Model>::DatasetTask : public RunTask {
 public:
  DatasetTask(const Run& run, const DatasetOf<F>& data, const DatasetOf<F>& validation, Loss loss)
      : run_(run), data_(data), validation_(validation), loss_(std::move(loss)) {}

  std::string name() const override { return run_.options().name; }
  std::string watched() const override { return run_.watched_; }
  Better better() const override { return run_.better_; }
  DataRecord record() const override {
    DataRecord record{
        .counts = {{"train-samples", data_.size()}, {"test-samples", validation_.size()}}};
    record.add("train", data_.inputs());
    record.add("test", validation_.inputs());
    return record;
  }

  Validation validate() override {
    return {
        run_.evaluate(FeedStream<F>(batches(validation_, run_.share(),
                                            {.batch_size = kValidationBatch, .shuffle = false})),
                      loss_)};
  }

  void describe(EventWriter& events) override {
    events.graph(module_graph(run_.towers().module(0)));
  }

 private:
  static constexpr std::int64_t kValidationBatch = 200;

  const Run& run_;
  const DatasetOf<F>& data_;
  const DatasetOf<F>& validation_;
  const Loss loss_;
};

template <class Model>
template <class F, class Loss>
RunSummary Run<Model>::train(const DatasetOf<F>& data, const DatasetOf<F>& validation, Loss loss) {
  BatchSourceOf<F> source(data, options_, share_);
  DatasetTask<F, Loss> task(*this, data, validation, loss);
  return train(source, std::move(loss), task);
}

template <class Model>
template <class F, class Loss>
RunSummary Run<Model>::train(FeedSource<F>& source, Loss loss, RunTask& task) {
  return with_optimizer(source.steps_from({}), [&](auto&& optimizer) -> RunSummary {
    if (!staged_) {
      const auto step = make_step(optimizer);
      const auto take = [&](const StepFeeds<F>& feeds) {
        return step->run(feeds, detail::whole_loss(loss));
      };
      return train_on(*whole_, *step, detail::run_source(source, take), task);
    }
    if constexpr (detail::is_layered<Loss>) {
      PipelineStep<Model> step(*staged_, optimizer, step_options_, options_.stages.pipeline);
      const auto take = [&](const StepFeeds<F>& feeds) {
        return step.run(feeds, loss.inputs, loss.outputs);
      };
      return train_on(*staged_, step, detail::run_source(source, take), task);
    } else {
      detail::refuse_stages();
    }
  });
}

template <class Model>
template <Feed F, class Loss>
Evaluation Run<Model>::evaluate(FeedStream<F> feeds, Loss loss) const {
  const Evaluation own = evaluate_own(std::move(feeds), std::move(loss));
  return options_.world ? evaluation_of_all(*options_.world, own) : own;
}

template <class Model>
template <Feed F, class Loss>
Evaluation Run<Model>::evaluate_own(FeedStream<F> feeds, Loss loss) const {
  if (!staged_) return pagoda::evaluate(*whole_, std::move(feeds), detail::whole_loss(loss));
  if constexpr (detail::is_layered<Loss>) {
    return pagoda::evaluate(*staged_, std::move(feeds), loss.inputs, loss.outputs);
  } else {
    detail::refuse_stages();
  }
}

}  // namespace pagoda
