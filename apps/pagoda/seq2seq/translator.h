#pragma once

#include <pagoda/data/tower_share.h>
#include <pagoda/models/decoding.h>
#include <pagoda/text/shortlist.h>
#include <pagoda/tower/towers.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "seq2seq/seq2seq_loss.h"
#include "seq2seq/text_task.h"

namespace pagoda::app {

/// How much each token of a target looked at each of its source.
struct AttentionWeights {
  std::vector<std::string> source;
  std::vector<std::string> target;  ///< with its end, if that was reached
  at::Tensor weights;               ///< [target, source]; each row sums to 1
};

/// A target and how good the model finds it.
struct Translation {
  std::string text;
  double score = 0;
  std::vector<std::string> tokens = {};                      ///< without the end
  std::optional<AttentionWeights> attention = std::nullopt;  ///< where decoding keeps it
};

/// Decodes one batch of sources; see beam_search, greedy and sample, and DecodeOptions for `choices`.
using Decode = std::function<std::vector<std::vector<Hypothesis>>(
    SequenceModel& model, const at::Tensor& source, const at::Tensor& lengths,
    const std::vector<std::vector<std::int64_t>>& choices)>;

/// The target tokens that are looked at: `count` for each source token. Without a list: all.
struct ShortlistChoice {
  std::shared_ptr<const Shortlist> list = nullptr;
  std::int64_t count = 0;

  /// See DecodeOptions::choices.
  std::vector<std::vector<std::int64_t>> choices(
      const std::vector<std::vector<TokenId>>& sources) const;
};

struct TranslatorOptions {
  /// Tokens that are decoded together: lines of similar length, filled up to the longest of them.
  /// One line is always possible.
  std::int64_t batch_tokens = 2048;
  std::int64_t max_length = 200;  ///< tokens of a line; the rest is cut off
  /// Where several processes translate the same lines together, the towers of this one: it decodes
  /// their batches. Unset: it is alone.
  std::optional<TowerShare> share = std::nullopt;
  ShortlistChoice shortlist = {};
};

/// Lines on all towers: sorted by length into batches, one tower a batch and each tower at least
/// one where there are so many lines, and back into their order. A line without tokens becomes an empty line; one that is another process's has no
/// translation. The models are in evaluation mode meanwhile.
///
/// Fails: TowerError when decoding throws.
std::vector<std::vector<Translation>> translate_lines(Towers<SequenceModelPtr>& towers,
                                                      const Codecs& codecs,
                                                      const std::vector<std::string>& lines,
                                                      const Decode& decode,
                                                      const TranslatorOptions& options = {});

/// As translations are decoded: unknown words, which nobody can read, are not produced.
DecodeOptions translation_options();

/// The ways to decode: the likeliest tokens, the best that a beam finds, tokens drawn at random.
Decode greedy_decoding(const DecodeOptions& options = translation_options(),
                       WithScores scores = WithScores::yes);
Decode beam_decoding(const BeamSearchOptions& options);
Decode sampled_decoding(const SamplingOptions& options);

}  // namespace pagoda::app
