#pragma once

#include <cstdint>
#include <string_view>

#include <ATen/core/Tensor.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/pimpl.h>

namespace pagoda {

/// How well a query fits a place of the memory.
enum class AttentionKind {
  luong,     ///< query · (W memory): "general" of Luong et al., 2015
  bahdanau,  ///< v · tanh(U query + W memory), Bahdanau et al., 2015
};

/// Fails: UsageError for another name than luong or bahdanau.
AttentionKind attention_kind(std::string_view name);

/// What attention found.
struct Attended {
  at::Tensor context;  ///< [batch, queries, memory size]
  at::Tensor weights;  ///< [batch, queries, places]; each row sums to 1
};

/// Looks up what fits each query in a memory, for all queries of a batch at once.
class AttentionImpl : public torch::nn::Module {
 public:
  AttentionImpl(AttentionKind kind, std::int64_t query_size, std::int64_t memory_size);

  /// What the memory [batch, places, memory size] is compared by; computed once for a memory.
  at::Tensor keys(const at::Tensor& memory);

  /// `queries` [batch, queries, query size]; `padding` [batch, places] is true where there is
  /// nothing to look at.
  Attended forward(const at::Tensor& queries, const at::Tensor& memory, const at::Tensor& keys,
                   const at::Tensor& padding);

 private:
  const AttentionKind kind_;
  torch::nn::Linear key_{nullptr};
  torch::nn::Linear query_{nullptr};   // of Bahdanau
  torch::nn::Linear energy_{nullptr};  // of Bahdanau
};
TORCH_MODULE(Attention);

}  // namespace pagoda
