#include "bench/mlp_bench.h"

#include <pagoda/cli/flag_adder.h>

#include "bench/equal_layers.h"
#include "bench/tower_bench.h"

namespace pagoda::app {

void add_mlp_bench_flags(CLI::App& command, MlpBenchFlags& flags) {
  FlagAdder add(command, "Model");
  add.option("--layers", flags.layers, "layers of the model")->check(whole_number(1, 1000));
  add.count("--width", flags.width, "units of a layer");
}

std::unique_ptr<Bench> make_mlp_bench(const std::vector<Device>& devices,
                                      const BenchOptions& options, const MlpBenchFlags& flags) {
  return std::make_unique<TowerBench<EqualLayers, Batch>>(
      devices, options,
      BenchTask<EqualLayers, Batch>{
          .model = [flags] { return EqualLayers(flags.layers, flags.width); },
          .feed = [flags](std::int64_t samples,
                          std::int64_t) { return random_vectors(samples, flags.width); },
          .score =
              [](EqualLayers& model, const Batch& batch) {
                return Scored{.loss = squared_error(model(batch.input), batch)};
              },
          .inputs = [](const Batch& batch) { return Tensors{batch.input}; },
          .score_outputs =
              [](EqualLayers&, const Tensors& outputs, const Batch& batch) {
                return Scored{.loss = squared_error(outputs[0], batch)};
              }});
}

}  // namespace pagoda::app
