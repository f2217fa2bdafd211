#include "commands/bench_run_command.h"

#include <pagoda/base/json.h>
#include <pagoda/base/stopwatch.h>
#include <pagoda/base/temporary_directory.h>
#include <pagoda/checkpoint/checkpoint_store.h>
#include <pagoda/cli/flag_adder.h>
#include <pagoda/cli/run_flags.h>
#include <pagoda/data/batches.h>
#include <pagoda/data/builtin_images.h>
#include <pagoda/device/cpu_cores.h>
#include <pagoda/terminal/text_table.h>
#include <pagoda/train/snapshot.h>
#include <pagoda/train/sync_step.h>

#include <cstdio>
#include <filesystem>
#include <future>
#include <optional>
#include <unistd.h>

#include "bench/median.h"
#include "lenet5/lenet5_task.h"
#include "run/warned_devices.h"

namespace pagoda::app {
namespace {

constexpr std::int64_t kImages = 10'000;

struct BenchRunFlags {
  DeviceChoice devices;
  std::optional<ParameterPlacement> parameters = std::nullopt;
  std::int64_t batch_size = 64;
  std::int64_t steps = 200;
  std::int64_t save_every = 20;
  int loader_threads = 1;
  std::string directory;  ///< empty: the system's for temporary files
  bool json = false;
};

struct RunCosts {
  double images_per_second = 0;   ///< distorted on one core
  double samples_per_second = 0;  ///< trained on all towers
  double step_seconds = 0;        ///< median
  double waited_part = 0;         ///< of the time, for data
  double stall_seconds = 0;       ///< of a checkpoint, median
  std::int64_t checkpoint_bytes = 0;
};

ImageDataset distorted_images() {
  return ImageDataset(ImageRecords(draw_builtin_images(1, 0, kImages), "built-in images"),
                      {.view = ImageView::distorted, .seed = 1});
}

/// In a thread of its own on one core, a batch at a time as the loader does it.
double images_per_second(const ImageDataset& images, const Device& device, std::int64_t batch) {
  const auto measuring = [&] {
    std::vector<double> rates;
    if (device.pinned && !device.cores.empty()) pin_this_thread({device.cores.front()});
    std::vector<std::int64_t> samples(static_cast<std::size_t>(batch));
    std::int64_t next = 0;
    for (int round = 0; round < 9; ++round) {
      constexpr int kBatches = 30;
      const double seconds = seconds_of([&] {
        for (int i = 0; i < kBatches; ++i) {
          for (auto& sample : samples) sample = next++ % kImages;
          images.get(samples, round);
        }
      });
      rates.push_back(static_cast<double>(kBatches * batch) / seconds);
    }
    return median(rates);
  };
  return std::async(std::launch::async, measuring).get();
}

/// Goes with whatever is in it, also after an error.
struct RemovedDirectory {
  explicit RemovedDirectory(std::filesystem::path directory) : path(std::move(directory)) {}
  RemovedDirectory(const RemovedDirectory&) = delete;
  RemovedDirectory& operator=(const RemovedDirectory&) = delete;
  ~RemovedDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  const std::filesystem::path path;
};

/// Trains with loader and checkpoints as a run does, and looks where the time goes.
RunCosts measure(const BenchRunFlags& flags) {
  const WarnedDevices chosen(flags.devices);
  const std::vector<Device>& devices = chosen.list();
  const ImageDataset images = distorted_images();
  RunCosts costs{.images_per_second = images_per_second(images, devices[0], flags.batch_size)};

  auto towers = make_towers(devices, [] { return LeNet5(); }, {.placement = flags.parameters});
  SyncStep step(towers, Adam{}, {.moving_average = MovingAverage{.decay = 0.99}});
  Batches data = batches(images, towers.size(),
                         {.batch_size = flags.batch_size,
                          .epochs = kEndlessEpochs,
                          .loader_threads = flags.loader_threads});
  std::optional<TemporaryDirectory> temporary;
  if (flags.directory.empty()) temporary.emplace("bench");
  const std::filesystem::path directory =
      (temporary ? temporary->path() : std::filesystem::path(flags.directory)) /
      ("pagoda-bench-" + std::to_string(getpid()));
  const RemovedDirectory removed{directory};
  CheckpointStore store(directory, {.keep_last = 1});

  std::vector<double> steps;
  std::vector<double> stalls;
  double samples = 0;
  RunState state;
  const double seconds = seconds_of([&] {
    while (state.step < flags.steps) {
      const Feeds* feeds = data.next();
      steps.push_back(seconds_of([&] { samples += step.run(*feeds, classify).weight; }));
      state.step = step.count();
      if (state.step % flags.save_every != 0) continue;
      stalls.push_back(seconds_of([&] { store.save(snapshot(towers, step, state, "")); }));
    }
  });
  store.wait();
  if (!stalls.empty()) {
    costs.checkpoint_bytes =
        static_cast<std::int64_t>(std::filesystem::file_size(store.files().front()));
    costs.stall_seconds = median(stalls);
  }
  costs.samples_per_second = samples / seconds;
  costs.step_seconds = median(steps);
  costs.waited_part = data.waited_seconds() / seconds;
  return costs;
}

void print_json(const RunCosts& costs) {
  JsonWriter json;
  json.begin_object().key("distorted_images_per_second").value(costs.images_per_second);
  json.key("samples_per_second").value(costs.samples_per_second);
  json.key("step_seconds").value(costs.step_seconds);
  json.key("data_wait_part").value(costs.waited_part);
  json.key("checkpoint_stall_seconds").value(costs.stall_seconds);
  json.key("checkpoint_stall_steps").value(costs.stall_seconds / costs.step_seconds);
  json.key("checkpoint_bytes").value(costs.checkpoint_bytes).end_object();
  std::puts(json.text().c_str());
}

void print_text(const RunCosts& costs) {
  std::printf("distorted images on one core  %10s /s\n", grouped(costs.images_per_second).c_str());
  std::printf("training                      %10s samples/s, %.1f ms a step\n",
              grouped(costs.samples_per_second).c_str(), 1e3 * costs.step_seconds);
  std::printf("waiting for data              %10.2f %% of the time\n", 100 * costs.waited_part);
  std::printf("stall of a checkpoint         %10.1f ms, %.2f of a step (%.1f MB)\n",
              1e3 * costs.stall_seconds, costs.stall_seconds / costs.step_seconds,
              static_cast<double>(costs.checkpoint_bytes) / 1e6);
}

int bench_run(const BenchRunFlags& flags) {
  const RunCosts costs = measure(flags);
  flags.json ? print_json(costs) : print_text(costs);
  return 0;
}

}  // namespace

void add_bench_run_command(CLI::App& bench, Action& action) {
  auto flags = std::make_shared<BenchRunFlags>();
  CLI::App* command = bench.add_subcommand(
      "run", "What a run adds to its steps: making images, waiting for them, checkpoints");
  FlagAdder add(*command);
  add.count("--batch-size", flags->batch_size, "samples for each tower");
  add.count("--steps", flags->steps, "steps of LeNet-5");
  add.count("--save-every", flags->save_every, "steps between two checkpoints");
  add.count("--loader-threads", flags->loader_threads, "threads that make batches ahead");
  add.option(
      "--dir", flags->directory,
      "where checkpoints are written, and removed again (default: where temporary files are)");
  add.flag("--json", flags->json, "print a JSON object");
  add_device_flags(*command, flags->devices);
  add_parameters_flag(*command, flags->parameters);
  command->callback([flags, &action] { action = [flags] { return bench_run(*flags); }; });
}

}  // namespace pagoda::app
