// One model cut into two stages on two devices, with micro-batches in flight. With four devices it
// would be two towers of two stages. The model is the one of one_device.cpp, unchanged; only its
// layers are named.
#include <pagoda/pagoda.h>

#include <cstdio>

#include "spiral.h"

std::vector<pagoda::Layer> layers_of(SpiralNet& model) {
  const auto bent = [](torch::nn::Linear linear) {
    return [linear](const at::Tensor& x) mutable { return torch::tanh(linear(x)); };
  };
  return {pagoda::layer("first", pagoda::tensors_of(*model->first), bent(model->first)),
          pagoda::layer("second", pagoda::tensors_of(*model->second), bent(model->second)),
          pagoda::layer("last", pagoda::tensors_of(*model->last),
                        [last = model->last](const at::Tensor& x) mutable { return last(x); })};
}

int main() {
  const Spiral spiral = make_spiral(3'000);
  const pagoda::TensorDataset data(spiral.points, spiral.arms);

  // Where to cut: the first and the second layer cost about the same, the last little.
  SpiralNet trial;
  const auto costs = pagoda::measure_layers(layers_of(trial), {spiral.points});
  for (const auto& cost : costs)
    std::printf("%-6s %6.0f us, %5lld bytes\n", cost.name.c_str(), 1e6 * cost.seconds(),
                static_cast<long long>(cost.parameter_bytes));
  const auto cut = pagoda::balance(pagoda::layer_seconds(costs), 2);

  auto towers = pagoda::make_staged_towers(
      pagoda::select_devices("cpu:0,cpu:1"), [] { return SpiralNet(); },
      {.stages = 2, .layers_per_stage = cut}, {.seed = 1}, layers_of);
  pagoda::PipelineStep step(towers, pagoda::Adam{.learning_rate = 0.01});

  // 100 samples a step, in 4 micro-batches.
  for (auto& feeds : pagoda::batches(data, towers.size(),
                                     {.batch_size = 25, .feeds_per_tower = 4, .epochs = 40})) {
    step.run(
        feeds, [](const pagoda::Batch& batch) { return batch.input; },
        [](SpiralNet&, const pagoda::Tensors& outputs, const pagoda::Batch& batch) {
          return torch::nn::functional::cross_entropy(outputs[0], batch.target);
        });
  }
  pagoda::save(towers, "spiral_in_stages.pt");  // the file that one device would write
  std::printf("%d tower of %d stages: accuracy %.3f\n", towers.size(), towers.stages().count(),
              accuracy(towers.model(0), spiral));
  return accuracy(towers.model(0), spiral) > 0.95 ? 0 : 1;
}
