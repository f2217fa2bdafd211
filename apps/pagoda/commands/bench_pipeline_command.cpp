#include "commands/bench_pipeline_command.h"

#include <pagoda/base/json.h>
#include <pagoda/base/stopwatch.h>
#include <pagoda/cli/flag_adder.h>
#include <pagoda/cli/run_flags.h>
#include <pagoda/pipeline/balance.h>
#include <pagoda/pipeline/measure_layers.h>
#include <pagoda/pipeline/pipeline_step.h>
#include <pagoda/run/stage_choice.h>
#include <pagoda/terminal/text_table.h>
#include <pagoda/train/sync_step.h>

#include <algorithm>
#include <cstdio>

#include <ATen/ops/randn.h>

#include "bench/median.h"
#include "mlp/equal_layers.h"
#include "run/warned_devices.h"

namespace pagoda::app {
namespace {

struct BenchPipelineFlags {
  BenchPipelineFlags() {
    devices.devices = "2";
    pipeline.cut.stages = 2;
  }

  DeviceChoice devices;
  StageChoice pipeline;
  std::int64_t width = 1024;
  int layers = 8;
  std::int64_t batch_size = 2048;
  std::int64_t steps = 2;
  int rounds = 7;
  bool json = false;
};

std::vector<Batch> random_feeds(std::int64_t count, std::int64_t samples, std::int64_t width) {
  std::vector<Batch> feeds;
  for (std::int64_t i = 0; i < count; ++i) feeds.push_back(random_vectors(samples, width));
  return feeds;
}

/// Samples per second of each round.
struct Rates {
  std::vector<double> pipeline;
  std::vector<double> one_device;
};

template <class Step>
double rate_of(std::int64_t steps, Step step) {
  double samples = 0;
  const double seconds = seconds_of([&] {
    for (std::int64_t i = 0; i < steps; ++i) samples += step().weight;
  });
  return samples / seconds;
}

/// Alternates the two in every round: the machine's speed changes meanwhile.
Rates measure(const std::vector<Device>& devices, const BenchPipelineFlags& flags) {
  const auto make = [&] { return EqualLayers(flags.layers, flags.width); };
  auto towers = make_staged_towers(devices, make, flags.pipeline.cut);
  PipelineStep step(towers, Adam{}, {}, flags.pipeline.pipeline);
  auto one = make_towers({devices.front()}, make);
  SyncStep one_step(one, Adam{});
  const auto feeds = random_feeds(static_cast<std::int64_t>(flags.pipeline.parts()) * towers.size(),
                                  flags.pipeline.part_of(flags.batch_size), flags.width);
  const auto one_feed = random_feeds(1, flags.batch_size, flags.width);

  const auto run_pipeline = [&] {
    return rate_of(flags.steps, [&] {
      return step.run(
          feeds, [](const Batch& batch) { return batch.input; },
          [](EqualLayers&, const Tensors& outputs, const Batch& batch) {
            return squared_error(outputs[0], batch);
          });
    });
  };
  const auto run_one = [&] {
    return rate_of(flags.steps, [&] {
      return one_step.run(one_feed, [](EqualLayers& model, const Batch& batch) {
        return squared_error(model(batch.input), batch);
      });
    });
  };
  Rates rates;
  for (int round = -1; round < flags.rounds; ++round) {  // round -1 warms up
    const bool pipeline_first = round % 2 == 0;          // none always comes first
    const double before = pipeline_first ? 0 : run_one();
    const double pipeline = run_pipeline();
    const double one_device = pipeline_first ? run_one() : before;
    if (round < 0) continue;
    rates.pipeline.push_back(pipeline);
    rates.one_device.push_back(one_device);
  }
  return rates;
}

/// Round by round: both met about the same machine.
double speed_up(const Rates& rates) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < rates.pipeline.size(); ++i)
    ratios.push_back(rates.pipeline[i] / rates.one_device[i]);
  return median(ratios);
}

std::vector<LayerCost> costs_of(const Device& device, const BenchPipelineFlags& flags) {
  auto one = make_towers({device}, [layers = flags.layers, width = flags.width] {
    return EqualLayers(layers, width);
  });
  const auto costs = std::make_shared<std::vector<LayerCost>>();
  const Batch batch{.input = at::randn({flags.pipeline.part_of(flags.batch_size), flags.width}),
                    .target = {}};
  one.run({.name = "measure"}, [models = one.typed_replicas(), costs, batch](TowerJob& job) {
    *costs = measure_layers(models.model(job.tower)->layers(),
                            {models.on_tower(batch, job.tower).input});
  });
  return *costs;
}

std::string list_text(const std::vector<int>& numbers) {
  std::string text;
  for (const int number : numbers) text += (text.empty() ? "" : ",") + std::to_string(number);
  return text;
}

void print_json(const Rates& rates, const std::vector<LayerCost>& costs,
                const std::vector<int>& cut) {
  JsonWriter json;
  json.begin_object().key("pipeline_samples_per_second").value(median(rates.pipeline));
  json.key("one_device_samples_per_second").value(median(rates.one_device));
  json.key("speed_up").value(speed_up(rates));
  json.key("suggested_stage_layers").value(list_text(cut)).key("layers").begin_array();
  for (const auto& cost : costs) {
    json.begin_object().key("name").value(cost.name).key("seconds").value(cost.seconds());
    json.key("parameter_bytes").value(cost.parameter_bytes);
    json.key("activation_bytes").value(cost.activation_bytes).end_object();
  }
  json.end_array().end_object();
  std::puts(json.text().c_str());
}

void print_text(const Rates& rates, const std::vector<LayerCost>& costs,
                const std::vector<int>& cut, const BenchPipelineFlags& flags) {
  std::vector<std::vector<std::string>> cells{{"layer", "forward ms", "backward ms", "MB"}};
  for (const auto& cost : costs) {
    cells.push_back({cost.name, grouped(1e3 * cost.forward_seconds, 2),
                     grouped(1e3 * cost.backward_seconds, 2),
                     grouped(static_cast<double>(cost.parameter_bytes) / 1e6, 2)});
  }
  std::printf("%sA balanced cut: --stage-layers %s\n\n", text_table(cells).c_str(),
              list_text(cut).c_str());
  std::printf("pipeline    %10s samples/s\none device  %10s samples/s\nspeed-up    %10.2f\n",
              grouped(median(rates.pipeline)).c_str(), grouped(median(rates.one_device)).c_str(),
              speed_up(rates));
  std::printf("Medians of %s of %s, batch %lld in %s.\n", counted(flags.rounds, "round").c_str(),
              counted(flags.steps, "step").c_str(), static_cast<long long>(flags.batch_size),
              counted(flags.pipeline.parts(), "micro-batch").c_str());
}

int bench_pipeline(const BenchPipelineFlags& flags) {
  const WarnedDevices chosen(flags.devices);
  const std::vector<Device>& devices = chosen.list();
  tower_count(flags.pipeline, devices.size());
  flags.pipeline.part_of(flags.batch_size);
  const Rates rates = measure(devices, flags);
  const auto costs = costs_of(devices.front(), flags);
  const auto cut = balance(layer_seconds(costs), flags.pipeline.cut.stages);
  flags.json ? print_json(rates, costs, cut) : print_text(rates, costs, cut, flags);
  return 0;
}

}  // namespace

void add_bench_pipeline_command(CLI::App& bench, Action& action) {
  auto flags = std::make_shared<BenchPipelineFlags>();
  CLI::App* command = bench.add_subcommand(
      "pipeline", "A model of equal layers in stages, beside the first device alone");
  FlagAdder add(*command);
  add.count("--width", flags->width, "units of a layer");
  add.count("--layers", flags->layers, "layers of the model");
  add.count("--batch-size", flags->batch_size, "samples for each tower, and for the single device");
  add.count("--steps", flags->steps, "steps of a round");
  add.count("--rounds", flags->rounds, "rounds; the median is shown");
  add.flag("--json", flags->json, "print a JSON object");
  add_device_flags(*command, flags->devices);
  add_stage_flags(*command, flags->pipeline);
  command->callback([flags, &action] { action = [flags] { return bench_pipeline(*flags); }; });
}

}  // namespace pagoda::app
