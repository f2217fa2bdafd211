#pragma once

#include <pagoda/models/sequence_model.h>

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

namespace pagoda {

/// A target that was found, without the tokens that begin and end it.
struct Hypothesis {
  std::vector<std::int64_t> tokens;  ///< in their order
  double log_probability = 0;        ///< of the tokens and of the end, if it was reached
  double score = 0;                  ///< what hypotheses are ranked by
  bool ended = false;                ///< false: cut at the greatest length
  at::Tensor attention = {};         ///< [tokens and end, places], on request
};

/// Options of all ways to decode.
struct DecodeOptions {
  std::int64_t begin_token = 2;  ///< what the decoder is given first
  std::int64_t end_token = 3;    ///< what ends a target
  /// A target may have `max_length_factor` times as many tokens as its source, and
  /// `max_length_extra` more.
  double max_length_factor = 2;
  std::int64_t max_length_extra = 10;  ///< see max_length_factor
  /// Tokens that are not produced, besides 0 and begin_token: the one for unknown words, for example.
  std::vector<std::int64_t> never = {};
  /// What each source's target begins with, whatever the model finds of it; empty, or as long as the
  /// batch.
  std::vector<std::vector<std::int64_t>> prefixes = {};
  /// The tokens that each source's target may hold, besides the end and its prefix; a target then does not
  /// depend on the other sources of its batch, and probabilities are among these. Empty: all of the
  /// vocabulary; otherwise as long as the batch. Few of them make decoding faster; see Shortlist.
  std::vector<std::vector<std::int64_t>> choices = {};
  /// No so many tokens in a row come twice in a target; 0 allows it.
  std::int64_t no_repeat_ngram = 0;
  bool attention = false;  ///< keep the attention weights
};

/// Options of beam_search.
struct BeamSearchOptions {
  DecodeOptions decode = {};   ///< those of all ways to decode
  std::int64_t beam_size = 5;  ///< hypotheses that are followed
  std::int64_t n_best = 1;     ///< hypotheses for each source; at most `beam_size`
  /// Scores are log-probabilities divided by (length, with the end) to this power; 0 does not
  /// normalise, which favours short targets.
  double length_penalty = 1;
};

/// The likeliest targets that a beam finds, best first, for each source of the batch.
///
/// In every step the `beam_size` best continuations stay; one that ends keeps its place, and the
/// search is over when all have ended or are as long as they may be. A beam of 1 is greedy
/// decoding; a beam as wide as the number of targets finds the best of all.
/// Token 0, which fills up, and `begin_token` are never produced. Sources have at least one token.
///
/// Threads: as the model, which should be in evaluation mode. Fails: UsageError for options that
/// cannot be. Example: `auto best = beam_search(*model, source, lengths, {.beam_size = 5});`
std::vector<std::vector<Hypothesis>> beam_search(SequenceModel& model, const at::Tensor& source,
                                                 const at::Tensor& lengths,
                                                 const BeamSearchOptions& options = {});

/// Whether greedy decoding gives log-probabilities and scores.
enum class WithScores { no, yes };

/// The likeliest token at each step. Without scores, which are 0 then, no softmax is computed.
std::vector<Hypothesis> greedy(SequenceModel& model, const at::Tensor& source,
                               const at::Tensor& lengths, const DecodeOptions& options = {},
                               WithScores scores = WithScores::yes);

/// Options of sample.
struct SamplingOptions {
  DecodeOptions decode = {};  ///< those of all ways to decode
  double temperature = 1;     ///< below 1 favours likely tokens; above 0
  std::int64_t top_k = 0;     ///< only so many likeliest tokens are drawn from; 0: all
  std::uint64_t seed = 0;     ///< the same seed gives the same targets
};

/// Tokens drawn by their probability.
std::vector<Hypothesis> sample(SequenceModel& model, const at::Tensor& source,
                               const at::Tensor& lengths, const SamplingOptions& options = {});

}  // namespace pagoda
