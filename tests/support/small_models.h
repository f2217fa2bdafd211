#pragma once

// Models that tests train, written for one device as a user would. Their activations are smooth: a
// gradient that is zero by accident would let Adam blow up its rounding errors.

#include <memory>

#include <torch/torch.h>

#include "support/formula_data.h"

namespace pagoda::testing {

/// Two layers.
struct MlpImpl : torch::nn::Module {
  at::Tensor forward(const at::Tensor& x) { return output(torch::tanh(hidden(x))); }

  torch::nn::Linear hidden = register_module("hidden", torch::nn::Linear(kInputs, 7));
  torch::nn::Linear output = register_module("output", torch::nn::Linear(7, kOutputs));
};
TORCH_MODULE(Mlp);

/// Weights tied in both ways of LibTorch: one tensor under two names, and a member replaced.
struct TiedImpl : torch::nn::Module {
  TiedImpl() { again->weight = middle->weight; }
  at::Tensor forward(const at::Tensor& x) {
    const at::Tensor up = torch::tanh(torch::linear(x, table));
    const at::Tensor down = torch::linear(again(torch::tanh(middle(up))), same_table.t());
    return down.slice(1, 0, kOutputs);
  }

  at::Tensor table = register_parameter("table", torch::randn({5, kInputs}));
  at::Tensor same_table = register_parameter("same_table", table);
  torch::nn::Linear middle = register_module("middle", torch::nn::Linear(5, 5));
  torch::nn::Linear again = register_module("again", torch::nn::Linear(5, 5));
};
TORCH_MODULE(Tied);

/// The first layer does not learn.
struct HalfFrozenImpl : MlpImpl {
  HalfFrozenImpl() { hidden->weight.set_requires_grad(false); }
};
TORCH_MODULE(HalfFrozen);

/// One layer is never used, another only by samples whose first input is high: by few feeds.
struct BranchingImpl : torch::nn::Module {
  at::Tensor forward(const at::Tensor& x) {
    const at::Tensor high = (x.select(1, 0) > 0.9).nonzero().squeeze(1);
    at::Tensor y = always(x);
    if (high.numel() > 0) y = y.index_add(0, high, torch::tanh(sometimes(x.index_select(0, high))));
    return y;
  }

  torch::nn::Linear always = register_module("always", torch::nn::Linear(kInputs, kOutputs));
  torch::nn::Linear sometimes = register_module("sometimes", torch::nn::Linear(kInputs, kOutputs));
  torch::nn::Linear never = register_module("never", torch::nn::Linear(kInputs, kOutputs));
};
TORCH_MODULE(Branching);

/// The mean of some words' rows; with `sparse` the table's gradient has rows.
struct WordsImpl : torch::nn::Module {
  explicit WordsImpl(bool sparse)
      : table(register_module(
            "table", torch::nn::Embedding(torch::nn::EmbeddingOptions(kWords, 5).sparse(sparse)))) {
  }
  at::Tensor forward(const at::Tensor& words) { return output(torch::tanh(table(words).mean(1))); }

  torch::nn::Embedding table;
  torch::nn::Linear output = register_module("output", torch::nn::Linear(5, kOutputs));
};
TORCH_MODULE(Words);

/// Convolution, pooling and the `view` that everybody writes.
struct ImagesImpl : torch::nn::Module {
  at::Tensor forward(const at::Tensor& x) {
    const at::Tensor pooled = torch::avg_pool2d(torch::tanh(conv(x)), 2);
    return output(pooled.view({pooled.size(0), -1}));
  }

  torch::nn::Conv2d conv = register_module("conv", torch::nn::Conv2d(3, 5, 3));
  torch::nn::Linear output = register_module("output", torch::nn::Linear(5 * 3 * 3, kOutputs));
};
TORCH_MODULE(Images);

/// Dropout and running statistics: everything that may differ from run to run.
struct NoisyImpl : torch::nn::Module {
  at::Tensor forward(const at::Tensor& x) {
    return output(dropout(torch::tanh(norm(hidden(x.to(torch::kFloat))))));
  }

  torch::nn::Linear hidden = register_module("hidden", torch::nn::Linear(kInputs, 16));
  torch::nn::BatchNorm1d norm = register_module("norm", torch::nn::BatchNorm1d(16));
  torch::nn::Dropout dropout = register_module("dropout", torch::nn::Dropout(0.5));
  torch::nn::Linear output = register_module("output", torch::nn::Linear(16, kOutputs));
};
TORCH_MODULE(Noisy);

/// A factory for a TowerGroup, which does not know the type of its models.
template <class Impl>
std::shared_ptr<torch::nn::Module> make_module(int /*tower*/) {
  return std::make_shared<Impl>();
}

template <class Model>
Model in_double(Model model) {
  model->to(torch::kDouble);
  return model;
}

/// The loss function of most tests.
struct MeanSquare {
  template <class Model>
  at::Tensor operator()(Model& model, const Batch& batch) const {
    const at::Tensor output = model->forward(batch.input);
    return torch::mse_loss(output, batch.target.to(output.scalar_type()));
  }
};

}  // namespace pagoda::testing
