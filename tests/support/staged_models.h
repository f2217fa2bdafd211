#pragma once

// Models that tests cut into stages, and what a pipeline is given to train them.

#include <pagoda/params/layer.h>
#include <pagoda/pipeline/pipeline_step.h>

#include <vector>

#include <torch/torch.h>

#include "support/formula_data.h"
#include "support/small_models.h"

namespace pagoda::testing {

/// Four layers.
struct DeepMlpImpl : torch::nn::Module {
  at::Tensor forward(const at::Tensor& x) {
    Tensors values{x};
    for (const Layer& layer : layers()) values = layer.forward(values);
    return values[0];
  }

  std::vector<Layer> layers() {
    const auto tanh_of = [](torch::nn::Linear linear) {
      return [linear](const at::Tensor& x) mutable { return torch::tanh(linear(x)); };
    };
    return {layer("first", tensors_of(*first), tanh_of(first)),
            layer("second", tensors_of(*second), tanh_of(second)),
            layer("third", tensors_of(*third), tanh_of(third)),
            layer("last", tensors_of(*last), [this](const at::Tensor& x) { return last(x); })};
  }

  torch::nn::Linear first = register_module("first", torch::nn::Linear(kInputs, 7));
  torch::nn::Linear second = register_module("second", torch::nn::Linear(7, 6));
  torch::nn::Linear third = register_module("third", torch::nn::Linear(6, 5));
  torch::nn::Linear last = register_module("last", torch::nn::Linear(5, kOutputs));
};
TORCH_MODULE(DeepMlp);

inline DeepMlp make_deep_mlp() { return in_double(DeepMlp()); }

/// Everything that may differ from run to run, in every layer; hands on two tensors, and whole
/// numbers too.
struct DeepNoisyImpl : torch::nn::Module {
  explicit DeepNoisyImpl(double dropped = 0.5) : dropout(torch::nn::Dropout(dropped)) {
    register_module("dropout", dropout);
  }

  at::Tensor forward(const at::Tensor& x) {
    Tensors values{x};
    for (const Layer& layer : layers()) values = layer.forward(values);
    return values[0];
  }

  std::vector<Layer> layers() {
    return {
        layer("first", tensors_of(*first, *norm1),
              [this](const Tensors& x) -> Tensors {
                const at::Tensor y = dropout(torch::tanh(norm1(first(x[0].to(torch::kFloat)))));
                return {y, y.square(), torch::arange(y.size(0), y.options().dtype(torch::kLong))};
              }),
        layer("second", tensors_of(*second, *norm2),
              [this](const Tensors& x) -> Tensors {
                const at::Tensor rows = x[0].index_select(0, x[2]);
                return {dropout(torch::tanh(norm2(second(rows)))), x[1], x[2]};
              }),
        layer("last", tensors_of(*last),
              [this](const Tensors& x) -> Tensors { return {last(dropout(x[0] + x[1]))}; })};
  }

  torch::nn::Dropout dropout;
  torch::nn::Linear first = register_module("first", torch::nn::Linear(kInputs, 16));
  torch::nn::BatchNorm1d norm1 = register_module("norm1", torch::nn::BatchNorm1d(16));
  torch::nn::Linear second = register_module("second", torch::nn::Linear(16, 16));
  torch::nn::BatchNorm1d norm2 = register_module("norm2", torch::nn::BatchNorm1d(16));
  torch::nn::Linear last = register_module("last", torch::nn::Linear(16, kOutputs));
};
TORCH_MODULE(DeepNoisy);

/// What the first layer takes.
struct BatchInput {
  at::Tensor operator()(const Batch& batch) const { return batch.input; }
};

/// MeanSquare of a pipeline.
struct StagedMeanSquare {
  template <class Model>
  at::Tensor operator()(Model&, const Tensors& outputs, const Batch& batch) const {
    return torch::mse_loss(outputs[0], batch.target.to(outputs[0].scalar_type()));
  }
};

inline constexpr PipelineSchedule kSchedules[] = {PipelineSchedule::gpipe,
                                                  PipelineSchedule::one_forward_one_backward};

inline const char* schedule_name(PipelineSchedule schedule) {
  return schedule == PipelineSchedule::gpipe ? "gpipe" : "1f1b";
}

}  // namespace pagoda::testing
