#include "sim/layer_kernels.h"

#include <optional>
#include <tuple>

#include <ATen/ATen.h>
#include <torch/library.h>

namespace pagoda {
namespace {

using OptionalTensor = std::optional<at::Tensor>;

at::Tensor dropout(const at::Tensor& input, double p, bool train) {
  TORCH_CHECK(p >= 0 && p <= 1, "dropout probability has to be between 0 and 1, but got ", p);
  if (!train || p == 0 || input.numel() == 0) return input;
  if (p == 1) return input.mul(at::zeros({}, input.options()));
  at::Tensor kept;
  {
    const at::NoGradGuard no_grad;
    kept = at::empty_like(input).bernoulli_(1 - p).div_(1 - p);
  }
  return input * kept;
}

at::Tensor with_bias(const at::Tensor& gates, const OptionalTensor& bias) {
  return bias && bias->defined() ? gates + *bias : gates;
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> lstm_cell(const at::Tensor& input_gates,
                                                         const at::Tensor& hidden_gates,
                                                         const at::Tensor& cell,
                                                         const OptionalTensor& input_bias,
                                                         const OptionalTensor& hidden_bias) {
  const at::Tensor gates =
      with_bias(hidden_gates, hidden_bias) + with_bias(input_gates, input_bias);
  const auto parts = gates.unsafe_chunk(4, 1);
  const at::Tensor next = parts[1].sigmoid() * cell + parts[0].sigmoid() * parts[2].tanh();
  return {parts[3].sigmoid() * next.tanh(), next, gates.detach()};
}

std::tuple<at::Tensor, at::Tensor> gru_cell(const at::Tensor& input_gates,
                                            const at::Tensor& hidden_gates,
                                            const at::Tensor& hidden,
                                            const OptionalTensor& input_bias,
                                            const OptionalTensor& hidden_bias) {
  const auto from_input = with_bias(input_gates, input_bias).unsafe_chunk(3, 1);
  const auto from_hidden = with_bias(hidden_gates, hidden_bias).unsafe_chunk(3, 1);
  const at::Tensor reset = (from_hidden[0] + from_input[0]).sigmoid();
  const at::Tensor keep = (from_hidden[1] + from_input[1]).sigmoid();
  const at::Tensor fresh = (from_input[2] + from_hidden[2] * reset).tanh();
  return {(hidden - fresh) * keep + fresh, reset.detach()};
}

}  // namespace

void implement_layers(torch::Library& library) {
  library.impl("dropout", &dropout);
  library.impl("_thnn_fused_lstm_cell", &lstm_cell);
  library.impl("_thnn_fused_gru_cell", &gru_cell);
}

}  // namespace pagoda
