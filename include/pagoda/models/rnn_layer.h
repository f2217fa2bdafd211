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

/// The kind of cell in a recurrent layer.
enum class Cell { lstm, gru };

/// The cell of this name: lstm or gru. Fails: UsageError for any other.
Cell cell_of(std::string_view name);

/// The state that a recurrent layer passes from one step to the next; tensors are [batch, hidden].
struct RnnState {
  at::Tensor hidden;  ///< the output of the step
  at::Tensor cell;    ///< the cell state of an LSTM; undefined for a GRU
};

/// The result of a recurrent layer.
struct RnnResult {
  at::Tensor outputs;  ///< [time, batch, hidden]
  RnnState last;       ///< the state after the last step of each sequence
};

/// Size and kind of a recurrent layer.
struct RnnLayerOptions {
  std::int64_t input = 256;   ///< features of the input at each step
  std::int64_t hidden = 256;  ///< units
  Cell cell = Cell::lstm;     ///< kind of the units
  bool reverse = false;       ///< read each sequence from its end to its start
};

/// One recurrent layer over whole sequences, with the weights and formulas of torch::nn::LSTM and
/// torch::nn::GRU: `weight_ih`, `weight_hh`, `bias_ih`, `bias_hh`.
///
/// Sequences of different length need no packing: beyond its end, a sequence keeps its state, so
/// `last` is the state at its own end, and a reversed layer begins there.
///
/// On the CPU, in float and double, the layer has kernels of its own: one matrix product for the
/// inputs of all steps, one product per step for the states, and in the backward pass one product
/// for the gradient of each weight. Elsewhere it is a loop of LibTorch's operators. Under autocast,
/// the products are in 16 bits; gates, states and outputs stay in fp32.
///
/// Fails: UsageError for sizes that are not positive.
class RnnLayerImpl : public torch::nn::Module {
 public:
  explicit RnnLayerImpl(const RnnLayerOptions& options);

  /// Runs over `inputs` [time, batch, input]. `lengths` [batch] is int64 on the host, or undefined
  /// when all sequences are as long as `inputs`; an undefined `initial` means zeros.
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
