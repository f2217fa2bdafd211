#pragma once

#include <concepts>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

namespace torch::nn {
class Module;
}

namespace pagoda {

/// What passes from layer to layer.
using Tensors = std::vector<at::Tensor>;

/// One layer of a model that is a sequence of layers: each takes what the one before returns.
///
/// The model remains one module with its own parameter names; its layers only say which of its
/// tensors are used, and in which order. A pipeline puts adjacent layers on one device.
struct Layer {
  std::string name;  ///< for people and messages
  /// Parameters and buffers that it uses; layers that share one must be in the same stage.
  Tensors tensors;
  std::function<Tensors(const Tensors& inputs)> forward;  ///< computes the layer
};

/// The parameters and buffers of a module and of all its submodules.
Tensors tensors_of(const torch::nn::Module& module);

/// The same for several modules.
template <class... Modules>
Tensors tensors_of(const torch::nn::Module& first, const Modules&... others) {
  Tensors all = tensors_of(first);
  for (const Tensors& more : {tensors_of(others)...})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

/// A layer whose `forward` takes and returns one tensor, or a list of them.
///
/// Example, of a model with two linear layers:
///     layer("hidden", tensors_of(*hidden),
///           [this](const at::Tensor& x) { return hidden(x).tanh(); });
///     layer("output", tensors_of(*output), [this](const at::Tensor& x) { return output(x); });
template <class Forward>
Layer layer(std::string name, Tensors tensors, Forward forward) {
  return {std::move(name), std::move(tensors),
          [forward = std::move(forward)](const Tensors& inputs) mutable -> Tensors {
            if constexpr (std::invocable<Forward&, const Tensors&>) {
              return forward(inputs);
            } else {
              return {forward(inputs.at(0))};
            }
          }};
}

}  // namespace pagoda
