#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>

#include "models/affine.h"

namespace pagoda {

/// What vectors look at: each other, or a memory.
enum class AttentionOver { themselves, memory };

/// Scaled dot-product attention with several heads; its parameters are those of
/// torch.nn.MultiheadAttention. Vectors are [batch, time, hidden], or [rows, hidden] where so said.
class MultiHeadAttention : public torch::nn::Module {
 public:
  MultiHeadAttention(std::int64_t hidden, std::int64_t heads, double dropout);

  /// What keys and values are made of, beside the queries: [..., 2 · hidden].
  at::Tensor keys_values(const at::Tensor& memory) const { return keys_values_(memory); }
  /// Queries, keys and values of the same vectors: [..., 3 · hidden].
  at::Tensor queries_keys_values(const at::Tensor& x) const { return queries_keys_values_(x); }
  at::Tensor queries(const at::Tensor& x) const { return queries_(x); }

  /// Every vector looks at all that the mask [batch, 1, 1, time] has as true; undefined: at all.
  at::Tensor of_all(const at::Tensor& x, const at::Tensor& mask) const;
  /// Every vector looks at itself and at those before it.
  at::Tensor of_those_before(const at::Tensor& x) const;
  /// Every vector looks at a memory, of which keys and values were made.
  at::Tensor of_memory(const at::Tensor& x, const at::Tensor& keys_values,
                       const at::Tensor& mask) const;

  /// What the heads found together [..., hidden] becomes the block's result.
  at::Tensor combined(const at::Tensor& found) const { return combined_(found); }

  /// See Affine; vectors look at themselves, or at a memory.
  void use_int8(Int8Products& products, AttentionOver over);

  std::int64_t heads() const { return heads_; }

 private:
  at::Tensor attend(const at::Tensor& queries, const at::Tensor& keys, const at::Tensor& values,
                    const at::Tensor& mask, bool causal) const;

  const std::int64_t hidden_;
  const std::int64_t heads_;
  const double dropout_;
  Affine queries_;
  Affine keys_values_;
  Affine queries_keys_values_;
  Affine combined_;
};

}  // namespace pagoda
