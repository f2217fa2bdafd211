#pragma once

#include <pagoda/models/sequence_model.h>

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

namespace pagoda {

/// A decoded target, without its begin and end tokens.
struct Hypothesis {
  std::vector<std::int64_t> tokens;  ///< in order
  double log_probability = 0;        ///< of the tokens, and of the end token if there is one
  /// What beam search ranks hypotheses by (see BeamSearchOptions::length_penalty); otherwise the
  /// same as `log_probability`.
  double score = 0;
  /// False if the target was cut at its greatest length, or no token was allowed to follow.
  bool ended = false;
  at::Tensor attention = {};  ///< [tokens and end, source positions], if DecodeOptions::attention
};

/// Options common to all decoding methods.
struct DecodeOptions {
  std::int64_t begin_token = 2;  ///< the first input of the decoder
  std::int64_t end_token = 3;    ///< ends a target
  /// A target may have `max_length_factor` times as many tokens as its source, plus
  /// `max_length_extra`.
  double max_length_factor = 2;
  std::int64_t max_length_extra = 10;  ///< see max_length_factor
  /// Tokens that are never produced, in addition to 0 and `begin_token`; for example, the unknown
  /// token.
  std::vector<std::int64_t> never = {};
  /// The tokens with which each target must begin, whatever their probability. Empty: none;
  /// otherwise one list for each source.
  std::vector<std::vector<std::int64_t>> prefixes = {};
  /// The tokens that each target may contain, in addition to its prefix and the end token;
  /// probabilities are normalised over these, and a target does not depend on the other sources of
  /// the batch. Empty: the whole vocabulary; otherwise one list for each source. Short lists make
  /// decoding faster; see Shortlist.
  std::vector<std::vector<std::int64_t>> choices = {};
  /// No n-gram of this many tokens may occur twice in a target; 0: no such limit.
  std::int64_t no_repeat_ngram = 0;
  bool attention = false;  ///< return the attention weights
};

/// Options of beam_search.
struct BeamSearchOptions {
  DecodeOptions decode = {};   ///< the common options
  std::int64_t beam_size = 5;  ///< hypotheses kept for each source
  std::int64_t n_best = 1;     ///< hypotheses to return for each source; at most `beam_size`
  /// Length normalisation: a score is the log-probability divided by the length (including the end
  /// token) raised to this power. 0 does not normalise, which favours short targets.
  double length_penalty = 1;
};

/// Beam search: the likeliest targets that it finds for each source of the batch, best first.
///
/// In every step, the `beam_size` best continuations are kept. A hypothesis that has ended keeps
/// its place in the beam, and the search is over when all have ended or reached their greatest
/// length. A beam of 1 is greedy decoding; a beam as wide as the number of possible targets finds
/// the best of all. Token 0, which is padding, and `begin_token` are never produced. Each source
/// must have at least one token.
///
/// Threads: as the model, which should be in evaluation mode.
/// Fails: UsageError for invalid options.
/// Example: `auto best = beam_search(*model, source, lengths, {.beam_size = 5});`
std::vector<std::vector<Hypothesis>> beam_search(SequenceModel& model, const at::Tensor& source,
                                                 const at::Tensor& lengths,
                                                 const BeamSearchOptions& options = {});

/// Whether greedy decoding computes log-probabilities and scores.
enum class WithScores { no, yes };

/// Greedy decoding: the likeliest token at each step, for each source of the batch. Without scores,
/// which are then 0, no softmax is computed.
///
/// Threads, fails: as beam_search.
std::vector<Hypothesis> greedy(SequenceModel& model, const at::Tensor& source,
                               const at::Tensor& lengths, const DecodeOptions& options = {},
                               WithScores scores = WithScores::yes);

/// Options of sample.
struct SamplingOptions {
  DecodeOptions decode = {};  ///< the common options
  double temperature = 1;     ///< must be positive; below 1 favours likely tokens
  std::int64_t top_k = 0;     ///< draw from this many of the likeliest tokens only; 0: from all
  std::uint64_t seed = 0;     ///< the same seed gives the same targets
};

/// Sampling: at each step, a token drawn by its probability, for each source of the batch.
///
/// Threads, fails: as beam_search.
std::vector<Hypothesis> sample(SequenceModel& model, const at::Tensor& source,
                               const at::Tensor& lengths, const SamplingOptions& options = {});

}  // namespace pagoda
