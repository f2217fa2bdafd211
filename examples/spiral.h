#pragma once

// What the examples train: a small network that tells the arms of a spiral apart. Plain LibTorch.

#include <cmath>
#include <vector>

#include <torch/torch.h>

struct SpiralNetImpl : torch::nn::Module {
  SpiralNetImpl() {
    first = register_module("first", torch::nn::Linear(2, 64));
    second = register_module("second", torch::nn::Linear(64, 64));
    last = register_module("last", torch::nn::Linear(64, 3));
  }
  torch::Tensor forward(const torch::Tensor& points) {
    return last(torch::tanh(second(torch::tanh(first(points)))));
  }
  torch::nn::Linear first{nullptr}, second{nullptr}, last{nullptr};
};
TORCH_MODULE(SpiralNet);

struct Spiral {
  torch::Tensor points;  // [N, 2]
  torch::Tensor arms;    // [N], 0 to 2
};

inline Spiral make_spiral(int count) {
  std::vector<float> points;
  std::vector<std::int64_t> arms;
  for (int i = 0; i < count; ++i) {
    const int arm = i % 3;
    const double radius = static_cast<double>(i) / count;
    const double angle = 4 * radius + arm * 2.0943951;  // a third of a turn between the arms
    points.push_back(static_cast<float>(radius * std::cos(angle)));
    points.push_back(static_cast<float>(radius * std::sin(angle)));
    arms.push_back(arm);
  }
  return {torch::tensor(points).reshape({count, 2}), torch::tensor(arms)};
}

/// Part of the points that the network puts on the right arm.
inline double accuracy(SpiralNet& model, const Spiral& data) {
  torch::NoGradGuard no_grad;
  return model(data.points).argmax(1).eq(data.arms).to(torch::kDouble).mean().item<double>();
}
