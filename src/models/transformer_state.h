#pragma once

#include <pagoda/models/transformer.h>

#include <vector>

#include "models/attention_cache.h"

namespace pagoda {

struct TransformerImpl::State : DecoderState {
  explicit State(std::vector<std::int64_t> source_lengths) : rows(std::move(source_lengths)) {}

  DecoderRows rows;
  std::vector<SourceCache> sources;  // by layer
  std::vector<GrownCache> before;

  void select(const at::Tensor& numbers) override;
};

}  // namespace pagoda
