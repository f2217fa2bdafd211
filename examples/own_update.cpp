// Optimizers of your own as formulas: Lion for each element, in one pass over memory, and Muon for
// whole matrices; on two CPU towers, with clipping, a schedule and rules by name.
#include <pagoda/pagoda.h>

#include <cmath>
#include <cstdio>

#include "spiral.h"

/// Chen et al., "Symbolic discovery of optimization algorithms", 2023.
struct Lion {
  pagoda::LearningRate learning_rate = 1e-4;
  double weight_decay = 0;
  double beta1 = 0.9;
  double beta2 = 0.99;
  std::vector<pagoda::StateArray> state = {{"momentum"}};  // kept, and in every checkpoint

  template <class T>
  void operator()(const pagoda::ElementBlock<T>& block) const {
    const T rate = T(block.learning_rate), decay = T(block.weight_decay);
    const T b1 = T(beta1), b2 = T(beta2);
    for (std::int64_t i = 0; i < block.count; ++i) {
      T& momentum = block.state[0][i];
      const T gradient = block.gradient[i];
      const T blend = b1 * momentum + (1 - b1) * gradient;
      block.parameter[i] -= rate * (T((blend > 0) - (blend < 0)) + decay * block.parameter[i]);
      momentum = b2 * momentum + (1 - b2) * gradient;
    }
  }
};

/// Jordan et al., "Muon: an optimizer for hidden layers in neural networks", 2024: the momentum of a
/// matrix is made orthogonal by a Newton-Schulz iteration; vectors follow their momentum.
struct Muon {
  pagoda::LearningRate learning_rate = 0.02;
  double momentum = 0.9;
  std::vector<pagoda::StateArray> state = {{"momentum"}};

  void operator()(const pagoda::WholeParameter& whole) const {
    const at::Tensor& velocity = whole.state[0].mul_(momentum).add_(whole.gradient);
    at::Tensor direction = whole.gradient + momentum * velocity;
    if (direction.dim() == 2) direction = orthogonal(direction);
    whole.parameter.sub_(direction, whole.learning_rate);
  }

  static at::Tensor orthogonal(const at::Tensor& matrix) {
    const bool tall = matrix.size(0) > matrix.size(1);
    at::Tensor x = tall ? matrix.t() : matrix;
    x = x / (x.norm() + 1e-7);
    for (int i = 0; i < 5; ++i) {
      const at::Tensor square = x.mm(x.t());
      x = 3.4445 * x + (-4.775 * square + 2.0315 * square.mm(square)).mm(x);
    }
    return tall ? x.t() : x;
  }
};

double trained_accuracy(const pagoda::AnyOptimizer& optimizer, const Spiral& spiral) {
  const pagoda::TensorDataset data(spiral.points, spiral.arms);
  auto towers =
      pagoda::make_towers(pagoda::select_devices("cpu:0,cpu:1"), [] { return SpiralNet(); });
  pagoda::SyncStep step(
      towers, optimizer,
      {.max_grad_norm = 1.0, .parameter_rules = {{.names = "*.bias", .rate_factor = 2}}});
  for (auto& feeds : pagoda::batches(data, towers.size(), {.batch_size = 50, .epochs = 30})) {
    step.run(feeds, [](SpiralNet& model, const pagoda::Batch& batch) {
      return torch::nn::functional::cross_entropy(model(batch.input), batch.target);
    });
  }
  return accuracy(towers.model(0), spiral);
}

int main() {
  const Spiral spiral = make_spiral(3'000);
  const pagoda::CosineDecay cosine{.base = 2e-3, .steps = 900, .warmup_steps = 50};
  const double lion = trained_accuracy(Lion{.learning_rate = cosine, .weight_decay = 0.1}, spiral);
  const double muon = trained_accuracy(Muon{}, spiral);
  std::printf("Lion: accuracy %.3f; Muon: accuracy %.3f\n", lion, muon);
  return lion > 0.95 && muon > 0.95 ? 0 : 1;
}
