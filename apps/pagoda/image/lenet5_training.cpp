#include "image/lenet5_training.h"

#include <pagoda/data/batches.h>
#include <pagoda/pipeline/pipeline_step.h>
#include <pagoda/train/averaged_parameters.h>
#include <pagoda/train/module_graph.h>

#include "flags/flag_adder.h"
#include "image/image_sheet.h"

namespace pagoda::app {
namespace {

constexpr int kShownImages = 16;

Batches test_batches(const Dataset& test, int towers) {
  return batches(test, towers, {.batch_size = 200, .shuffle = false});
}

/// What is the same whether a tower is one device or a pipeline.
class LeNet5Run {
 public:
  LeNet5Run(const TrainFlags& flags, const std::string& config, ImageTask images, int towers)
      : flags_(flags),
        config_(config),
        images_(std::move(images)),
        towers_(towers),
        feed_size_(flags.feed_size(towers)) {
    if (flags.overfit_batches > 0)
      images_.train->use_first(flags.overfit_batches * feed_size_ * flags.feeds_per_tower() *
                               towers);
  }

  std::int64_t steps_per_epoch() const {
    return FeedPlan(images_.train->size(), towers_,
                    {.batch_size = feed_size_, .feeds_per_tower = flags_.feeds_per_tower()})
        .steps_per_epoch();
  }
  const Dataset& test_images() const { return *images_.test; }

  /// `run_step(feeds)` takes a step, `test()` gives an Evaluation.
  template <class TowersOrStages, class RunStep, class Test>
  TrainingSummary train_on(TowersOrStages& towers, Step& step, RunStep run_step, Test test) const {
    return train(flags_, config_,
                 {.model = "LeNet-5",
                  .record = [&] { return record_of(images_); },
                  .towers = towers,
                  .step = step,
                  .stages = stages_of(towers),
                  .data = [&](const DataPosition& start,
                              std::int64_t epochs) { return data(start, epochs, run_step); },
                  .test = [&] { return TestResult{test()}; },
                  .watched = "accuracy",
                  .describe =
                      [&](EventWriter& events) {
                        const Picture sheet = first_images(*images_.train, kShownImages);
                        events.image("training images", 0, sheet.view());
                        events.graph(module_graph(towers.module(0)));
                      }});
  }

 private:
  template <class RunStep>
  TrainingData data(const DataPosition& start, std::int64_t epochs, RunStep run_step) const {
    const auto stream =
        std::make_shared<Batches>(batches(*images_.train, towers_,
                                          {.batch_size = feed_size_,
                                           .feeds_per_tower = flags_.feeds_per_tower(),
                                           .seed = flags_.seed,
                                           .epochs = epochs,
                                           .start = start,
                                           .loader_threads = flags_.loader_threads}));
    TrainingData data = training_data<Batch>(stream, run_step);
    data.steps_per_epoch = stream->plan().steps_per_epoch();
    data.steps_left = stream->plan().steps_from(start.consumed);
    data.step_text = "batch " + std::to_string(feed_size_ * flags_.pipeline.parts()) +
                     " a tower, " + std::to_string(stream->plan().step_samples()) + " a step";
    return data;
  }

  const TrainFlags& flags_;
  const std::string& config_;
  const ImageTask images_;
  const int towers_;
  const std::int64_t feed_size_;
};

}  // namespace

void add_lenet5_flags(CLI::App& command, LeNet5Flags& flags) {
  FlagAdder add(command, "Model");
  add.option("--data", flags.data, "builtin, or a directory with CIFAR-10's binary files");
  add.option("--dropout", flags.dropout, "part of the hidden layer that is dropped")
      ->check(CLI::Range(0.0, 0.99));
}

TrainingSummary train_lenet5(const TrainFlags& flags, const LeNet5Flags& lenet5,
                             const std::string& config) {
  const ChosenDevices devices(flags.devices);
  const int count = tower_count(flags.pipeline, devices.list().size());
  const LeNet5Run run(flags, config, load_images(lenet5.data, flags.seed), count);
  const OptimizerOptions optimizer =
      chosen_optimizer(flags.optimizer, flags.run_steps(run.steps_per_epoch()));
  const auto make_model = [dropout = lenet5.dropout] {
    return LeNet5(LeNet5Options{.dropout = dropout});
  };
  if (flags.pipeline.stages == 1) {
    auto towers = make_towers(devices.list(), make_model, flags.tower_options());
    const auto step = make_step(towers, optimizer, step_options(flags), flags);
    return run.train_on(
        towers, *step, [&](const Feeds& feeds) { return step->run(feeds, classify); },
        [&] { return test_lenet5(towers, *step, run.test_images()); });
  }
  auto towers = make_staged_towers(devices.list(), make_model, stage_options(flags.pipeline),
                                   flags.tower_options());
  PipelineStep step(towers, optimizer, step_options(flags), pipeline_options(flags.pipeline));
  return run.train_on(
      towers, step,
      [&](const Feeds& feeds) { return step.run(feeds, images_of, classify_outputs); },
      [&] {
        const AveragedParameters averaged(towers, step);
        return evaluate(towers, test_batches(run.test_images(), count), images_of,
                        classify_outputs);
      });
}

Evaluation test_lenet5(Towers<LeNet5>& towers, ModelStep<LeNet5>& step, const Dataset& test) {
  const AveragedParameters averaged(towers, step);
  return evaluate(towers, test_batches(test, towers.size()), classify);
}

}  // namespace pagoda::app
