#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

namespace pagoda {

class Int8Linear;
class Int8Products;

/// The kind of a recurrent layer's units.
enum class Cell { lstm, gru };

/// Fails: UsageError for another name than lstm or gru.
Cell cell_of(std::string_view name);

/// What a recurrent layer hands from one step to the next, [batch, hidden].
struct RnnState {
  at::Tensor hidden;  ///< what the layer gave for the step
  at::Tensor cell;    ///< of an LSTM; undefined for a GRU
};

/// What a layer gives.
struct RnnResult {
  at::Tensor outputs;  ///< [time, batch, hidden]
  RnnState last;       ///< after the last step of each sequence
};

/// The sizes of a layer.
struct RnnLayerOptions {
  std::int64_t input = 256;   ///< numbers of each input step
  std::int64_t hidden = 256;  ///< units
  Cell cell = Cell::lstm;     ///< their kind
  bool reverse = false;       ///< from the end of each sequence to its start
};

/// One recurrent layer over whole sequences, with the weights and formulas of torch::nn::LSTM and
/// torch::nn::GRU: `weight_ih`, `weight_hh`, `bias_ih`, `bias_hh`.
///
/// Sequences of different length need no packing: past its end a sequence keeps its state, so
/// `last` is the state at its own end, and a reversed layer begins there.
///
/// On the CPU in float and double it runs with kernels of its own: one matrix product for the
/// inputs of all steps, one for each step, and a backward that forms the weights' gradients in one
/// product each. Elsewhere it is a loop of LibTorch's operators. Under autocast the products have 16
/// bits; gates, states and outputs stay in fp32.
///
/// Fails: UsageError for sizes that are not positive.
class RnnLayerImpl : public torch::nn::Module {
 public:
  explicit RnnLayerImpl(const RnnLayerOptions& options);

  /// `inputs` [time, batch, input]; `lengths` [batch] of int64, or undefined when all are as long
  /// as `inputs`; `initial` may be empty (zeros).
  RnnResult forward(const at::Tensor& inputs, const at::Tensor& lengths = {},
                    const RnnState& initial = {});

  /// See SequenceModel::use_int8.
  void use_int8(Int8Products& products);

 private:
  const RnnLayerOptions options_;
  at::Tensor weight_ih_;
  at::Tensor weight_hh_;
  at::Tensor bias_ih_;
  at::Tensor bias_hh_;
  std::shared_ptr<const Int8Linear> int8_ih_;
  std::shared_ptr<const Int8Linear> int8_hh_;
};
TORCH_MODULE(RnnLayer);

}  // namespace pagoda
