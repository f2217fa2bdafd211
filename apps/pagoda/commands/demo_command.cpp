#include <pagoda/base/stopwatch.h>
#include <pagoda/cli/flag_adder.h>
#include <pagoda/cli/run_flags.h>
#include <pagoda/terminal/console.h>
#include <pagoda/terminal/text_table.h>

#include <cstdio>

#include "commands/commands.h"
#include "lenet5/lenet5_training.h"
#include "run/warned_devices.h"

namespace pagoda::app {
namespace {

struct DemoFlags {
  DeviceChoice devices;
  std::int64_t batch_size = 64;
  std::int64_t epochs = 3;
  std::uint64_t seed = 1;
};

struct DemoRow {
  int towers;
  double samples_per_second;
  double accuracy;
};

/// Trains on these devices; the step has the same samples whatever their number.
DemoRow train_on(const std::vector<Device>& devices, std::int64_t step_samples,
                 const ImageTask& images, const DemoFlags& flags) {
  auto towers = make_towers(devices, [] { return LeNet5(); }, {.seed = flags.seed});
  SyncStep step(towers, Adam{.learning_rate = 1e-3},
                {.moving_average = MovingAverage{.decay = 0.99}});
  Batches data = batches(
      *images.train, towers.size(),
      {.batch_size = step_samples / towers.size(), .seed = flags.seed, .epochs = flags.epochs});
  Console console(LogFormat::text);
  console.line(counted(towers.size(), "tower") + ", " +
               counted(data.plan().step_samples(), "sample") + " a step");
  console.expect(flags.epochs * data.plan().steps_per_epoch());

  double samples = 0;
  double epoch_loss = 0;
  const Stopwatch watch;
  for (const auto& feeds : data) {
    const StepResult result = step.run(feeds, classify);
    samples += result.weight;
    epoch_loss += result.loss / static_cast<double>(data.plan().steps_per_epoch());
    char note[64];
    std::snprintf(note, sizeof note, "%s samples/s, loss %.3f",
                  grouped(samples / watch.seconds()).c_str(), result.loss);
    console.progress(step.count(), note);
    if (feeds.after.consumed == 0) {
      std::snprintf(note, sizeof note, "epoch %lld: mean loss %.3f",
                    static_cast<long long>(feeds.after.epoch), epoch_loss);
      console.line(note);
      epoch_loss = 0;
    }
  }
  const double rate = samples / watch.seconds();
  return {.towers = towers.size(),
          .samples_per_second = rate,
          .accuracy = test_lenet5(towers, step, *images.test).metric("accuracy")};
}

void print_table(const std::vector<DemoRow>& rows) {
  std::vector<std::vector<std::string>> cells{{"towers", "samples/s", "speed-up", "test accuracy"}};
  for (const auto& row : rows) {
    char speed_up[32];
    char accuracy[32];
    std::snprintf(speed_up, sizeof speed_up, "%.2f x",
                  row.samples_per_second / rows.front().samples_per_second);
    std::snprintf(accuracy, sizeof accuracy, "%.1f %%", 100 * row.accuracy);
    cells.push_back(
        {std::to_string(row.towers), grouped(row.samples_per_second), speed_up, accuracy});
  }
  std::printf("\n%s", text_table(cells).c_str());
}

int demo(const DemoFlags& flags) {
  const WarnedDevices chosen(flags.devices);
  const std::vector<Device>& devices = chosen.list();
  const std::int64_t step_samples = flags.batch_size * static_cast<std::int64_t>(devices.size());
  const ImageTask images = load_images("builtin", flags.seed);
  std::vector<DemoRow> rows{train_on({devices.front()}, step_samples, images, flags)};
  if (devices.size() > 1) rows.push_back(train_on(devices, step_samples, images, flags));
  print_table(rows);
  return 0;
}

}  // namespace

void add_demo_command(CLI::App& program, Action& action) {
  auto flags = std::make_shared<DemoFlags>();
  CLI::App* command =
      program.add_subcommand("demo", "Train LeNet-5 on one tower, then on all, and compare");
  FlagAdder add(*command);
  add.count("--batch-size", flags->batch_size, "samples for each tower when all train");
  add.count("--epochs", flags->epochs, "passes over the training data");
  add.option("--seed", flags->seed, "of initial values and order")->check(any_whole_number());
  add_device_flags(*command, flags->devices);
  command->callback([flags, &action] { action = [flags] { return demo(*flags); }; });
}

}  // namespace pagoda::app
