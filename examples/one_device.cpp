// Training on one device with plain LibTorch; all_devices.cpp is the same on all of them.
#include <cstdio>

#include "spiral.h"

int main() {
  torch::manual_seed(1);
  const Spiral data = make_spiral(3'000);
  SpiralNet model;
  torch::optim::Adam optimizer(model->parameters(), torch::optim::AdamOptions(0.01));

  for (int epoch = 0; epoch < 40; ++epoch) {
    const torch::Tensor order = torch::randperm(data.points.size(0));
    for (const auto& samples : order.split(100)) {
      optimizer.zero_grad();
      auto loss = torch::nn::functional::cross_entropy(model(data.points.index_select(0, samples)),
                                                       data.arms.index_select(0, samples));
      loss.backward();
      optimizer.step();
    }
  }
  std::printf("one device: accuracy %.3f\n", accuracy(model, data));
  return accuracy(model, data) > 0.95 ? 0 : 1;
}
