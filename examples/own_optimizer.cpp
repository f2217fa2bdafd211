// A torch::optim::Optimizer of your own in place of the built-in ones, on two CPU towers, with a
// learning rate that decays, clipped gradients and the loss reported.
#include <pagoda/pagoda.h>

#include <cstdio>

#include "spiral.h"

int main() {
  const Spiral spiral = make_spiral(3'000);
  const pagoda::TensorDataset data(spiral.points, spiral.arms);
  auto towers =
      pagoda::make_towers(pagoda::select_devices("cpu:0,cpu:1"), [] { return SpiralNet(); });

  torch::optim::RMSprop optimizer(towers.parameters());
  pagoda::SyncStep step(
      towers, optimizer,
      {.max_grad_norm = 1.0,
       .learning_rate = pagoda::CosineDecay{.base = 3e-3, .steps = 900, .warmup_steps = 50}});
  double loss = 0;
  for (auto& feeds : pagoda::batches(data, towers.size(), {.batch_size = 50, .epochs = 30})) {
    loss = step.run(feeds,
                    [](SpiralNet& model, const pagoda::Batch& batch) {
                      return torch::nn::functional::cross_entropy(model(batch.input), batch.target);
                    })
               .loss;
  }
  std::printf("RMSprop on %d towers: loss %.3f, accuracy %.3f\n", towers.size(), loss,
              accuracy(towers.model(0), spiral));
  return accuracy(towers.model(0), spiral) > 0.95 ? 0 : 1;
}
