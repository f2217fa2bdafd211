#pragma once

// AdamW as a user would write it, in both forms of own_update.h: what the built-in one must equal.

#include <pagoda/optim/own_update.h>

#include <cmath>
#include <vector>

#include <torch/torch.h>

namespace pagoda::testing {

struct ElementAdamW {
  LearningRate learning_rate = 1e-3;
  double weight_decay = 0.01;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  std::vector<StateArray> state = {{"mean"}, {"square"}};

  template <class T>
  void operator()(const ElementBlock<T>& block) const {
    const auto n = static_cast<double>(block.update);
    const T rate = static_cast<T>(block.learning_rate / (1 - std::pow(beta1, n)));
    const T root = static_cast<T>(1 / std::sqrt(1 - std::pow(beta2, n)));
    const T keep = static_cast<T>(1 - block.learning_rate * block.weight_decay);
    for (std::int64_t i = 0; i < block.count; ++i) {
      const T g = block.gradient[i];
      T& mean = block.state[0][i];
      T& square = block.state[1][i];
      mean += static_cast<T>(1 - beta1) * (g - mean);
      square = static_cast<T>(beta2) * square + static_cast<T>(1 - beta2) * g * g;
      block.parameter[i] = keep * block.parameter[i] -
                           rate * mean / (std::sqrt(square) * root + static_cast<T>(epsilon));
    }
  }
};

struct WholeAdamW {
  LearningRate learning_rate = 1e-3;
  double weight_decay = 0.01;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;

  static std::vector<StateArray> state() { return {{"mean"}, {"square"}}; }

  void operator()(const WholeParameter& whole) const {
    const auto n = static_cast<double>(whole.update);
    const at::Tensor& mean = whole.state[0];
    const at::Tensor& square = whole.state[1];
    mean.lerp_(whole.gradient, 1 - beta1);
    square.mul_(beta2).addcmul_(whole.gradient, whole.gradient, 1 - beta2);
    whole.parameter.mul_(1 - whole.learning_rate * whole.weight_decay);
    const at::Tensor root = square.sqrt() / std::sqrt(1 - std::pow(beta2, n)) + epsilon;
    whole.parameter.addcdiv_(mean, root, -whole.learning_rate / (1 - std::pow(beta1, n)));
  }
};

/// Plain gradient descent, which leaves rows without a gradient as they are.
struct ElementSgd {
  LearningRate learning_rate = 0.1;
  static constexpr bool rests_without_gradient = true;

  template <class T>
  void operator()(const ElementBlock<T>& block) const {
    for (std::int64_t i = 0; i < block.count; ++i)
      block.parameter[i] -= static_cast<T>(block.learning_rate) * block.gradient[i];
  }
};

}  // namespace pagoda::testing
