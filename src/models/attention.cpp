#include <pagoda/base/error.h>
#include <pagoda/models/attention.h>

#include <limits>
#include <string>

namespace pagoda {

using torch::nn::Linear;
using torch::nn::LinearOptions;

AttentionKind attention_kind(std::string_view name) {
  if (name == "luong") return AttentionKind::luong;
  if (name == "bahdanau") return AttentionKind::bahdanau;
  throw UsageError("there is no attention \"" + std::string(name) + "\"; take luong or bahdanau");
}

AttentionImpl::AttentionImpl(AttentionKind kind, std::int64_t query_size, std::int64_t memory_size)
    : kind_(kind) {
  key_ = register_module("key", Linear(LinearOptions(memory_size, query_size).bias(false)));
  if (kind == AttentionKind::bahdanau) {
    query_ = register_module("query", Linear(query_size, query_size));
    energy_ = register_module("energy", Linear(LinearOptions(query_size, 1).bias(false)));
  }
}

at::Tensor AttentionImpl::keys(const at::Tensor& memory) { return key_(memory); }

Attended AttentionImpl::forward(const at::Tensor& queries, const at::Tensor& memory,
                                const at::Tensor& keys, const at::Tensor& padding) {
  at::Tensor scores;
  if (kind_ == AttentionKind::luong) {
    scores = at::bmm(queries, keys.transpose(1, 2));
  } else {
    const at::Tensor sums = query_(queries).unsqueeze(2) + keys.unsqueeze(1);
    scores = energy_(sums.tanh()).squeeze(3);
  }
  scores = scores.masked_fill(padding.unsqueeze(1), -std::numeric_limits<double>::infinity());
  const at::Tensor weights = scores.softmax(-1);
  return {at::bmm(weights, memory), weights};
}

}  // namespace pagoda
