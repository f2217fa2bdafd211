#pragma once

#include <pagoda/models/decoding.h>
#include <pagoda/tower/towers.h>

#include <functional>
#include <string>
#include <vector>

#include "text_task.h"

namespace pagoda::app {

/// A target and how good the model finds it.
struct Translation {
  std::string text;
  double score = 0;
};

/// Decodes one batch of sources; see beam_search, greedy and sample.
using Decode = std::function<std::vector<std::vector<Hypothesis>>(
    Seq2Seq& model, const at::Tensor& source, const at::Tensor& lengths)>;

struct TranslatorOptions {
  std::int64_t batch_size = 32;   ///< lines that are decoded together
  std::int64_t max_length = 200;  ///< tokens of a line; the rest is cut off
};

/// Lines on all towers: sorted by length into batches, one tower a batch, and back into their
/// order. A line without tokens becomes an empty line. The models are in evaluation mode meanwhile.
///
/// Fails: TowerError when decoding throws.
std::vector<std::vector<Translation>> translate_lines(Towers<Seq2Seq>& towers, const Codecs& codecs,
                                                      const std::vector<std::string>& lines,
                                                      const Decode& decode,
                                                      const TranslatorOptions& options = {});

/// The likeliest tokens.
Decode greedy_decoding();

}  // namespace pagoda::app
