#include "lenet5_training.h"

#include <pagoda/data/batches.h>
#include <pagoda/train/averaged_parameters.h>
#include <pagoda/train/module_graph.h>

#include "image_sheet.h"

namespace pagoda::app {
namespace {

constexpr int kShownImages = 16;

}  // namespace

void add_lenet5_flags(CLI::App& command, LeNet5Flags& flags) {
  command.add_option("--data", flags.data, "builtin, or a directory with CIFAR-10's binary files")
      ->capture_default_str()
      ->group("Model");
  command.add_option("--dropout", flags.dropout, "part of the hidden layer that is dropped")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 0.99))
      ->group("Model");
}

TrainingSummary train_lenet5(const TrainFlags& flags, const LeNet5Flags& lenet5,
                             const std::string& config) {
  const auto devices = chosen_devices(flags.devices);
  const int count = static_cast<int>(devices.size());
  const std::int64_t feed_size = flags.feed_size(count);
  const OptimizerOptions optimizer = chosen_optimizer(flags.optimizer);
  const ImageTask images = load_images(lenet5.data, flags.seed);
  if (flags.overfit_batches > 0) {
    images.train->use_first(flags.overfit_batches * feed_size * flags.accumulate * count);
  }
  auto towers =
      make_towers(devices, [&] { return LeNet5(LeNet5Options{.dropout = lenet5.dropout}); },
                  {.seed = flags.seed});
  SyncStep step(towers, optimizer, step_options(flags));

  return train(flags, config,
               {.model = "LeNet-5",
                .towers = towers,
                .step = step,
                .data =
                    [&](const DataPosition& start, std::int64_t epochs) {
                      const auto stream = std::make_shared<Batches>(
                          batches(*images.train, count,
                                  {.batch_size = feed_size,
                                   .feeds_per_tower = flags.accumulate,
                                   .seed = flags.seed,
                                   .epochs = epochs,
                                   .start = start,
                                   .loader_threads = flags.loader_threads}));
                      TrainingData data = training_data<Batch>(
                          stream, [&](const Feeds& feeds) { return step.run(feeds, classify); });
                      data.steps_per_epoch = stream->plan().steps_per_epoch();
                      data.steps_left = stream->plan().steps_from(start.consumed);
                      data.step_text = "batch " + std::to_string(feed_size) + " a tower, " +
                                       std::to_string(stream->plan().step_samples()) + " a step";
                      return data;
                    },
                .test = [&] { return TestResult{test_lenet5(towers, step, *images.test)}; },
                .watched = "accuracy",
                .describe =
                    [&](EventWriter& events) {
                      const Picture sheet = first_images(*images.train, kShownImages);
                      events.image("training images", 0, sheet.view());
                      events.graph(module_graph(towers.module(0)));
                    }});
}

Evaluation test_lenet5(Towers<LeNet5>& towers, SyncStep<LeNet5>& step, const Dataset& test) {
  const AveragedParameters averaged(towers, step);
  return evaluate(towers, batches(test, towers.size(), {.batch_size = 200, .shuffle = false}),
                  classify);
}

}  // namespace pagoda::app
