// The program of one_device.cpp on all devices of the machine. The model is the same file,
// unchanged.
#include <pagoda/pagoda.h>

#include <cstdio>

#include "spiral.h"

int main() {
  const Spiral spiral = make_spiral(3'000);
  const pagoda::TensorDataset data(spiral.points, spiral.arms);
  auto towers =
      pagoda::make_towers(pagoda::visible_devices(), [] { return SpiralNet(); }, {.seed = 1});
  pagoda::SyncStep step(towers, pagoda::Adam{.learning_rate = 0.01});

  // 100 samples a step, however many towers share them.
  for (auto& feeds :
       pagoda::batches(data, towers.size(), {.batch_size = 100 / towers.size(), .epochs = 40})) {
    step.run(feeds, [](SpiralNet& model, const pagoda::Batch& batch) {
      return torch::nn::functional::cross_entropy(model(batch.input), batch.target);
    });
  }
  pagoda::save(towers, "spiral.pt");
  std::printf("%d towers: accuracy %.3f\n", towers.size(), accuracy(towers.model(0), spiral));
  return accuracy(towers.model(0), spiral) > 0.95 ? 0 : 1;
}
