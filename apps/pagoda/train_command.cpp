#include <pagoda/base/atomic_file.h>
#include <pagoda/base/error.h>
#include <pagoda/base/json.h>
#include <pagoda/train/averaged_parameters.h>
#include <pagoda/train/save.h>

#include <cstdio>
#include <filesystem>

#include "commands.h"
#include "flags.h"
#include "lenet5_training.h"
#include "text_table.h"

namespace pagoda::app {
namespace {

struct TrainFlags {
  DeviceFlags devices;
  OptimizerFlags optimizer;
  std::string data = "builtin";
  std::int64_t batch_size = BatchesOptions{}.batch_size;
  std::optional<std::int64_t> global_batch_size;
  int accumulate = BatchesOptions{}.feeds_per_tower;
  std::int64_t epochs = 5;
  std::optional<std::int64_t> max_steps;
  double dropout = LeNet5Options{}.dropout;
  std::string on_non_finite = "stop";
  std::uint64_t seed = 1;
  std::string out;
  std::int64_t log_every = TrainingPlan{}.log_every;
  std::string log_format = "text";
  bool json = false;
};

void add_flags(CLI::App& command, TrainFlags& flags) {
  const auto add = [&](const char* group, const char* name, auto& value, const char* text) {
    return command.add_option(name, value, text)->capture_default_str()->group(group);
  };
  add("Run", "--data", flags.data, "builtin, or a directory with CIFAR-10's binary files");
  add("Run", "--batch-size", flags.batch_size, "samples for each tower and feed")->check(count());
  command
      .add_option("--global-batch-size", flags.global_batch_size,
                  "samples of all towers in one step, instead")
      ->group("Run")
      ->check(count())
      ->excludes("--batch-size");
  add("Run", "--accumulate", flags.accumulate, "feeds of each tower before an update")
      ->check(count());
  add("Run", "--epochs", flags.epochs, "passes over the training data")->check(count());
  command.add_option("--max-steps", flags.max_steps, "stop after so many steps, instead")
      ->group("Run")
      ->check(count())
      ->excludes("--epochs");
  add("Run", "--dropout", flags.dropout, "part of the hidden layer that is dropped")
      ->check(CLI::Range(0.0, 0.99));
  add("Run", "--on-non-finite", flags.on_non_finite,
      "when a loss is not finite: stop, or skip the step")
      ->check(CLI::IsMember({"stop", "skip"}));
  add("Run", "--seed", flags.seed, "of initial values, dropout, distortions and order")
      ->check(any_whole_number());
  add("Output", "--out", flags.out,
      "directory for the trained weights (default: none are written)");
  add("Output", "--log-every", flags.log_every, "steps between two log lines")->check(count());
  add("Output", "--log-format", flags.log_format, "of the log lines on stderr")
      ->check(CLI::IsMember({"text", "json"}));
  command.add_flag("--json", flags.json, "print the summary on stdout as a JSON object")
      ->group("Output");
  add_device_flags(command, flags.devices);
  add_optimizer_flags(command, flags.optimizer);
}

/// Samples of one feed.
std::int64_t feed_size(const TrainFlags& flags, int towers) {
  if (!flags.global_batch_size) return flags.batch_size;
  const std::int64_t feeds = static_cast<std::int64_t>(towers) * flags.accumulate;
  if (*flags.global_batch_size < 1 || *flags.global_batch_size % feeds != 0) {
    throw UsageError("a global batch of " + std::to_string(*flags.global_batch_size) +
                     " samples cannot be divided by " + std::to_string(feeds) + " feeds (" +
                     std::to_string(towers) + " towers, " + std::to_string(flags.accumulate) +
                     " feeds each); give a multiple of " + std::to_string(feeds));
  }
  return *flags.global_batch_size / feeds;
}

/// Made before training, so that a long run does not end with a surprise.
void prepare_out(const std::string& out) {
  if (out.empty()) return;
  std::error_code error;
  std::filesystem::create_directories(out, error);
  if (error)
    throw IoError("cannot create directory " + out + ": " + error.message() +
                  "; choose another --out");
  AtomicFile probe(std::filesystem::path(out) /
                   "model.pt");  // not committed: leaves nothing behind
}

void write_weights(Towers<LeNet5>& towers, SyncStep<LeNet5>& step,
                   const std::filesystem::path& out) {
  save(towers, out / "model.pt");
  if (step.updater().averages().empty()) return;
  const AveragedParameters averaged(towers, step);
  save(towers, out / "model-ema.pt");
}

void print_summary(const TrainFlags& flags, const Towers<LeNet5>& towers,
                   const TrainingSummary& summary, const Evaluation& test) {
  if (flags.json) {
    JsonWriter json;
    json.begin_object().key("towers").value(towers.size()).key("steps").value(summary.steps);
    json.key("skipped_steps").value(summary.skipped).key("samples").value(summary.samples);
    json.key("seconds")
        .value(summary.seconds)
        .key("samples_per_second")
        .value(summary.samples_per_second());
    json.key("data_wait_seconds").value(summary.waited).key("loss").value(summary.loss);
    json.key("test_loss")
        .value(test.loss)
        .key("test_accuracy")
        .value(test.metric("accuracy"))
        .end_object();
    std::puts(json.text().c_str());
    return;
  }
  std::printf(
      "%d towers, %lld steps, %s samples in %.1f s: %s samples/s; test accuracy %.2f %%, test loss "
      "%.4f\n",
      towers.size(), static_cast<long long>(summary.steps), grouped(summary.samples).c_str(),
      summary.seconds, grouped(summary.samples_per_second()).c_str(), 100 * test.metric("accuracy"),
      test.loss);
}

int train(const TrainFlags& flags) {
  const auto devices = chosen_devices(flags.devices);
  const auto optimizer = chosen_optimizer(flags.optimizer);
  const std::int64_t batch_size = feed_size(flags, static_cast<int>(devices.size()));
  prepare_out(flags.out);
  const ImageTask images = load_images(flags.data, flags.seed);

  auto towers =
      make_towers(devices, [&] { return LeNet5(LeNet5Options{.dropout = flags.dropout}); },
                  {.seed = flags.seed});
  SyncStep step(
      towers, optimizer,
      {.max_tower_grad_norm = unless_zero(flags.optimizer.max_tower_grad_norm),
       .max_grad_norm = unless_zero(flags.optimizer.max_grad_norm),
       .l2 = flags.optimizer.l2,
       .decay_scope = DecayScope::weights,
       .moving_average = chosen_average(flags.optimizer),
       .on_non_finite = flags.on_non_finite == "skip" ? NonFinite::skip : NonFinite::stop});
  Batches data = batches(*images.train, towers.size(),
                         {.batch_size = batch_size,
                          .feeds_per_tower = flags.accumulate,
                          .seed = flags.seed,
                          .epochs = flags.max_steps ? kEndlessEpochs : flags.epochs});
  const TrainingPlan plan{
      .steps = flags.max_steps.value_or(flags.epochs * data.plan().steps_per_epoch()),
      .log_every = flags.log_every};

  TrainingSummary summary;
  {
    Console console(flags.log_format == "json" ? Console::Format::json : Console::Format::text,
                    plan.steps);
    if (console.format() == Console::Format::text) {
      console.line("LeNet-5 on " + std::to_string(towers.size()) + " towers, batch " +
                   std::to_string(batch_size) + " for each feed, " +
                   std::to_string(data.plan().step_samples()) + " for each step, " +
                   grouped(static_cast<double>(images.train->size())) + " training samples");
    }
    summary = train_lenet5(step, data, plan, console);
  }
  if (!flags.out.empty()) write_weights(towers, step, flags.out);
  print_summary(flags, towers, summary, test_lenet5(towers, step, *images.test));
  return 0;
}

}  // namespace

void add_train_command(CLI::App& program, Run& run) {
  CLI::App* command = program.add_subcommand("train", "Train a model on all devices");
  command->require_subcommand(1);
  auto flags = std::make_shared<TrainFlags>();
  CLI::App* lenet5 = command->add_subcommand("lenet5", "LeNet-5 on 32x32 colour images");
  add_flags(*lenet5, *flags);
  lenet5->callback([flags, &run] { run = [flags] { return train(*flags); }; });
}

}  // namespace pagoda::app
