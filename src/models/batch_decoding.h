#pragma once

#include <pagoda/models/decoding.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <ATen/core/Tensor.h>

#include "models/output_choice.h"
#include "models/top_tokens.h"

namespace pagoda {

/// One more token of a live hypothesis.
struct Continuation {
  std::size_t parent;  // among the live ones of its source
  std::int64_t token;
  double log_probability;  // with the parent's
};

/// The hypotheses of one source.
struct Search {
  std::int64_t max_length;
  std::vector<Hypothesis> live;
  std::vector<Hypothesis> done;
};

/// What a way of decoding decides: the continuations of a source's live hypotheses. `tokens` and
/// `scores` hold the likeliest tokens of each, best first, on the host.
using Choose = std::function<std::vector<Continuation>(
    std::size_t source, const Search& search, const at::Tensor& tokens, const at::Tensor& scores)>;

/// Decodes a batch of sources together; rows of what has ended are dropped on the way.
///
/// Threads: as the model. Borrows the model and the options.
class BatchDecoding {
 public:
  /// Fails: UsageError for options that cannot be, or do not fit the batch.
  BatchDecoding(SequenceModel& model, const at::Tensor& source, const at::Tensor& lengths,
                const DecodeOptions& options, TokenScores scores = TokenScores::log_probabilities);

  /// The hypotheses of each source, all of them done. `kept_tokens` of each row are told to `choose`.
  std::vector<Search> run(std::int64_t kept_tokens, const Choose& choose);

 private:
  /// The live hypotheses of the next step: which row each comes from, and its last token.
  struct Next {
    std::vector<std::int64_t> rows;
    std::vector<std::int64_t> tokens;
  };

  void advance(std::int64_t kept_tokens, const Choose& choose);
  void follow(Search& search, const std::vector<Continuation>& chosen, std::int64_t first_row,
              const at::Tensor& attention, Next& next_step);
  std::vector<std::int64_t> sources_of_rows() const;
  void name_tokens(const at::Tensor& places) const;
  std::vector<TokenRule> rules() const;
  TokenRule rule(std::size_t source, const std::vector<std::int64_t>& tokens) const;

  SequenceModel& model_;
  const DecodeOptions& options_;
  const TokenScores scores_;
  const OutputChoice output_;
  std::vector<std::int64_t> never_;  // places
  std::unique_ptr<DecoderState> state_;
  std::vector<Search> searches_;
  at::Tensor tokens_;  // the last of each live hypothesis, source by source
};

}  // namespace pagoda
