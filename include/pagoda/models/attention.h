#pragma once

#include <cstdint>
#include <string_view>

#include <ATen/core/Tensor.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/pimpl.h>

namespace pagoda {

/// How a query is scored against a position of the memory.
enum class AttentionKind {
  luong,     ///< query · (W memory): "general" in Luong et al., 2015
  bahdanau,  ///< v · tanh(U query + W memory): Bahdanau et al., 2015
};

/// The kind of this name: luong or bahdanau. Fails: UsageError for any other.
AttentionKind attention_kind(std::string_view name);

/// The result of attention.
struct Attended {
  at::Tensor context;  ///< [batch, queries, memory size]
  at::Tensor weights;  ///< [batch, queries, positions]; each row sums to 1
};

/// Attention over a memory, for all queries of a batch at once: the mean of the memory, weighted by
/// how well each position matches the query.
class AttentionImpl : public torch::nn::Module {
 public:
  AttentionImpl(AttentionKind kind, std::int64_t query_size, std::int64_t memory_size);

  /// The keys that queries are compared with: [batch, positions, query size], for a memory [batch,
  /// positions, memory size]. Compute them once for each memory.
  at::Tensor keys(const at::Tensor& memory);

  /// Attends with `queries` [batch, queries, query size]; `keys` are those of `memory`, and
  /// `padding` [batch, positions] is true at positions to be ignored.
  Attended forward(const at::Tensor& queries, const at::Tensor& memory, const at::Tensor& keys,
                   const at::Tensor& padding);

 private:
  const AttentionKind kind_;
  torch::nn::Linear key_{nullptr};
  torch::nn::Linear query_{nullptr};   // bahdanau only
  torch::nn::Linear energy_{nullptr};  // bahdanau only
};
TORCH_MODULE(Attention);

}  // namespace pagoda
