#pragma once

#include <pagoda/models/sequence_model.h>

#include <cstdint>

namespace pagoda {

/// What every sequence model has of its own options.
template <class ModelOptions>
TokenOptions token_options(const ModelOptions& o, std::int64_t embedding) {
  return {.source_vocabulary = o.source_vocabulary,
          .target_vocabulary = o.target_vocabulary,
          .embedding = embedding,
          .tied = o.tied,
          .label_smoothing = o.label_smoothing,
          .softmax = o.softmax,
          .samples = o.samples,
          .row_gradients = o.row_gradients};
}

}  // namespace pagoda
