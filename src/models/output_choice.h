#pragma once

#include <pagoda/models/decoding.h>

#include <cstdint>
#include <functional>
#include <vector>

#include <ATen/core/Tensor.h>

namespace pagoda {

/// The part of a vocabulary that a batch's targets may hold, with the output layer for it. A place is
/// the number of a token in this part; where everything may be produced, places are tokens.
class OutputChoice {
 public:
  /// As the options' choices say, with each source's prefix and the end. Fails: UsageError for a token
  /// that the vocabulary does not have.
  OutputChoice(const SequenceModel& model, const DecodeOptions& options);

  /// How much each place fits [rows, places]: minus infinity where a row's source does not choose it.
  /// `sources` are those of the rows; they are not looked at where everything may be produced.
  at::Tensor logits(const at::Tensor& hidden, const std::vector<std::int64_t>& sources) const;

  /// Whether there is anything to choose from.
  bool is_part() const { return !tokens_.empty(); }
  std::int64_t token(std::int64_t place) const;
  /// Those of the tokens that have a place.
  std::vector<std::int64_t> places(const std::vector<std::int64_t>& tokens) const;

 private:
  std::function<at::Tensor(const at::Tensor&)> all_;  // where everything may be produced
  std::vector<std::int64_t> tokens_;  // by place, ascending; none: all of the vocabulary
  at::Tensor weight_;                 // [places, size]
  at::Tensor bias_;                   // [sources, places]
};

}  // namespace pagoda
