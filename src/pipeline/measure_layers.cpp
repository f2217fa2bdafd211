#include <pagoda/base/error.h>
#include <pagoda/base/stopwatch.h>
#include <pagoda/pipeline/measure_layers.h>

#include <algorithm>
#include <string>

#include <ATen/ops/ones_like.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include "pipeline/boundary.h"

namespace pagoda {
namespace {

std::int64_t bytes_of(const Tensors& tensors) {
  std::int64_t bytes = 0;
  for (const auto& tensor : tensors) bytes += static_cast<std::int64_t>(tensor.nbytes());
  return bytes;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void drop_gradients(const Layer& layer) {
  for (const auto& tensor : layer.tensors) {
    if (tensor.requires_grad()) tensor.mutable_grad().reset();
  }
}

/// Cards compute while their caller goes on: waits for those that these tensors are on.
void wait_for(const Tensors& tensors) {
  for (const auto& tensor : tensors) {
    const c10::Device device = tensor.device();
    if (!device.is_cpu())
      c10::impl::VirtualGuardImpl(device.type()).synchronizeDevice(device.index());
  }
}

}  // namespace

std::vector<LayerCost> measure_layers(const std::vector<Layer>& layers, const Tensors& inputs,
                                      int rounds) {
  if (rounds < 1) {
    throw UsageError("layers are to be measured in " + std::to_string(rounds) +
                     " rounds; it must be at least 1");
  }
  std::vector<LayerCost> costs;
  Parcel given = parcel_of(inputs);
  for (const Layer& layer : layers) {
    std::vector<double> forward;
    std::vector<double> backward;
    Tensors outputs;
    for (int round = -1; round < rounds; ++round) {  // round -1 warms up
      const Tensors leaves =
          given.tensors.empty() ? Tensors() : unpack(given, given.tensors[0].device());
      const double forward_seconds = seconds_of([&] {
        outputs = layer.forward(leaves);
        wait_for(outputs);
      });
      if (round >= 0) forward.push_back(forward_seconds);
      Tensors gradients;
      for (const auto& output : outputs)
        gradients.push_back(output.requires_grad() ? at::ones_like(output) : at::Tensor());
      wait_for(outputs);
      const double backward_seconds = seconds_of([&] {
        backward_from(outputs, gradients);
        wait_for(outputs);
      });
      if (round >= 0) backward.push_back(backward_seconds);
      drop_gradients(layer);
    }
    costs.push_back({.name = layer.name,
                     .forward_seconds = median(forward),
                     .backward_seconds = median(backward),
                     .parameter_bytes = bytes_of(layer.tensors),
                     .activation_bytes = bytes_of(outputs)});
    given = parcel_of(outputs);
  }
  return costs;
}

std::vector<double> layer_seconds(const std::vector<LayerCost>& costs) {
  std::vector<double> seconds;
  for (const auto& cost : costs) seconds.push_back(cost.seconds());
  return seconds;
}

}  // namespace pagoda
