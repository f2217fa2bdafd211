#pragma once

#include <pagoda/base/stopwatch.h>
#include <pagoda/pipeline/pipeline_step.h>
#include <pagoda/run/stage_choice.h>
#include <pagoda/train/async_step.h>
#include <pagoda/train/sync_step.h>

#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include "model/bench.h"
#include "model/made_up_task.h"

namespace pagoda::app {

/// The benchmark of any model, trained with Adam. Towers are built when a mode needs them, so that a mode that is not
/// used takes no memory.
template <class Model, Feed F>
class TowerBench : public Bench {
 public:
  TowerBench(std::vector<Device> devices, const BenchOptions& options, MadeUpTask<Model, F> task)
      : devices_(std::move(devices)), options_(options), task_(std::move(task)) {
    task_.step.world = options.world;
    task_.step.wire = options.wire;
    task_.step.local_steps = options.local_steps;
    set_matmul_precision(options.matmul);
  }

  BenchRound run(BenchMode mode) override {
    constexpr std::int64_t kWarmUpSteps = 2;  // fill the caches again after another round
    run_steps(mode, kWarmUpSteps);
    const WorldTraffic before = traffic();
    const double seconds = seconds_of([&] { run_steps(mode, options_.steps); });
    const WorldTraffic after = traffic();
    return {.samples_per_second = static_cast<double>(options_.steps * samples_a_step()) / seconds,
            .steps = options_.steps,
            .traffic = {.exchanges = after.exchanges - before.exchanges,
                        .bytes = after.bytes - before.bytes,
                        .seconds = after.seconds - before.seconds}};
  }

 private:
  static constexpr std::uint64_t kSampleSeed = 1;

  WorldTraffic traffic() const {
    return options_.world ? options_.world->traffic() : WorldTraffic{};
  }

  static auto made_by(const MadeUpTask<Model, F>& task) {
    return [make = task.model] { return make(0); };
  }

  struct Group {
    Group(const std::vector<Device>& devices, const MadeUpTask<Model, F>& task,
          std::int64_t samples, const TowerOptions& options, bool async)
        : towers(make_towers(devices, made_by(task), options)) {
      if (async) {
        step = std::make_unique<AsyncStep<Model>>(towers, Adam{}, task.step);
      } else {
        step = std::make_unique<SyncStep<Model>>(towers, Adam{}, task.step);
      }
      constexpr std::int64_t kDifferentSteps = 4;
      at::Generator random = sample_stream(kSampleSeed);
      for (std::int64_t i = 0; i < kDifferentSteps; ++i) {
        auto& step_feeds = feeds.emplace_back();
        for (std::size_t tower = 0; tower < devices.size(); ++tower)
          step_feeds.push_back(task.feed(samples, i, random));
      }
    }

    const std::vector<F>& feeds_of(std::int64_t number) const {
      return feeds[static_cast<std::size_t>(number) % feeds.size()];
    }

    Towers<Model> towers;
    std::unique_ptr<ModelStep<Model>> step;
    std::vector<std::vector<F>> feeds;  // of a few steps, used in turn
  };

  /// Towers of several stages, with the micro-batches that `pagoda train` takes by default.
  struct StagedGroup {
    StagedGroup(const std::vector<Device>& devices, const MadeUpTask<Model, F>& task,
                const BenchOptions& options)
        : towers(
              make_staged_towers(devices, made_by(task), {.stages = options.stages},
                                 {.placement = options.placement, .precision = options.precision})),
          step(towers, Adam{}, task.step) {
      const std::int64_t samples = options.batch_size * options.stages;
      const std::int64_t parts = std::gcd(samples, kMicroBatches);
      at::Generator random = sample_stream(kSampleSeed);
      for (std::int64_t i = 0; i < parts * towers.size(); ++i)
        feeds.push_back(task.feed(samples / parts, 0, random));
    }

    StagedTowers<Model> towers;
    PipelineStep<Model> step;
    std::vector<F> feeds;
  };

  std::int64_t samples_a_step() const {
    return options_.batch_size * static_cast<std::int64_t>(devices_.size());
  }

  Group& group_of(BenchMode mode) {
    auto& group = mode == BenchMode::threads ? one_ : mode == BenchMode::async ? async_ : towers_;
    if (!group && mode == BenchMode::threads) {
      group = std::make_unique<Group>(std::vector{all_cores(devices_)}, task_, samples_a_step(),
                                      TowerOptions{.precision = options_.precision}, false);
    } else if (!group) {
      const bool async = mode == BenchMode::async;
      const TowerOptions own{.placement = async ? ParameterPlacement::host : options_.placement,
                             .precision = options_.precision};
      group = std::make_unique<Group>(devices_, task_, options_.batch_size, own, async);
    }
    return *group;
  }

  void run_steps(BenchMode mode, std::int64_t steps) {
    if constexpr (NamesLayers<Model>) {
      if (options_.stages > 1) return run_stages(steps);
    }
    Group& group = group_of(mode);
    if (mode == BenchMode::unsynchronised) return run_unsynchronised(group, steps);
    for (std::int64_t i = 0; i < steps; ++i) group.step->run(group.feeds_of(i), task_.score);
    // Processes that train on their own meet as often as their steps say, not for a round's end.
    if (mode == BenchMode::async) group.step->finish();
  }

  void run_stages(std::int64_t steps) {
    if (!staged_) staged_ = std::make_unique<StagedGroup>(devices_, task_, options_);
    for (std::int64_t i = 0; i < steps; ++i)
      staged_->step.run(staged_->feeds, task_.inputs, task_.score_outputs);
  }

  void run_unsynchronised(Group& group, std::int64_t steps) {
    // By value: a tower that is late outlives this call.
    group.towers.run({.name = "unsynchronised"},
                     [models = group.towers.typed_replicas(), replicas = group.towers.replicas(),
                      all = group.feeds, score = task_.score, steps](TowerJob& job) {
                       for (std::int64_t i = 0; i < steps; ++i) {
                         const auto& feeds = all[static_cast<std::size_t>(i) % all.size()];
                         const F feed =
                             models.on_tower(feeds[static_cast<std::size_t>(job.tower)], job.tower);
                         at::Tensor loss;
                         {
                           const PrecisionScope precision(replicas->options().precision,
                                                          replicas->device(job.tower));
                           loss = score(models.model(job.tower), feed).loss;
                         }
                         loss.backward();
                         loss.template item<double>();
                         for (const auto& entry : replicas->table(job.tower).trainable)
                           entry.tensor.mutable_grad().reset();
                       }
                     });
  }

  const std::vector<Device> devices_;
  const BenchOptions options_;
  MadeUpTask<Model, F> task_;
  std::unique_ptr<Group> towers_;
  std::unique_ptr<Group> async_;  // the same towers, asynchronous
  std::unique_ptr<Group> one_;    // one tower with all cores
  std::unique_ptr<StagedGroup> staged_;
};

}  // namespace pagoda::app
