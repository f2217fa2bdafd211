#include "models/output_choice.h"

#include <pagoda/base/error.h>

#include <algorithm>
#include <limits>
#include <string>

#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>

#include "models/narrow_products.h"

namespace pagoda {
namespace {

using Tokens = std::vector<std::int64_t>;

/// What the target of a source may hold, sorted.
Tokens choice_of(const DecodeOptions& options, std::size_t source) {
  Tokens tokens = options.choices[source];
  tokens.push_back(options.end_token);
  if (!options.prefixes.empty()) {
    const Tokens& prefix = options.prefixes[source];
    tokens.insert(tokens.end(), prefix.begin(), prefix.end());
  }
  std::sort(tokens.begin(), tokens.end());
  tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
  return tokens;
}

std::int64_t place_of(const Tokens& tokens, std::int64_t token) {
  return std::lower_bound(tokens.begin(), tokens.end(), token) - tokens.begin();
}

}  // namespace

OutputChoice::OutputChoice(const SequenceModel& model, const DecodeOptions& options) {
  if (options.choices.empty()) {
    all_ = model.prepared_logits();
    return;
  }
  std::vector<Tokens> chosen;
  for (std::size_t i = 0; i < options.choices.size(); ++i) {
    chosen.push_back(choice_of(options, i));
    tokens_.insert(tokens_.end(), chosen.back().begin(), chosen.back().end());
  }
  std::sort(tokens_.begin(), tokens_.end());
  tokens_.erase(std::unique(tokens_.begin(), tokens_.end()), tokens_.end());
  const std::int64_t vocabulary = model.tokens().target_vocabulary;
  if (tokens_.front() < 0 || tokens_.back() >= vocabulary) {
    throw UsageError("a choice holds token " +
                     std::to_string(tokens_.front() < 0 ? tokens_.front() : tokens_.back()) +
                     ", which a vocabulary of " + std::to_string(vocabulary) + " does not have");
  }
  at::Tensor mask =
      at::full({std::ssize(chosen), std::ssize(tokens_)}, -std::numeric_limits<float>::infinity());
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    float* row = mask.mutable_data_ptr<float>() + i * tokens_.size();
    for (const std::int64_t token : chosen[i]) row[place_of(tokens_, token)] = 0;
  }
  const at::Device device = model.parameters().front().device();
  const auto [weight, bias] = model.output_of(at::tensor(tokens_, at::kLong).to(device));
  weight_ = weight;
  bias_ = bias + mask.to(bias.options());
}

at::Tensor OutputChoice::logits(const at::Tensor& hidden,
                                const std::vector<std::int64_t>& sources) const {
  if (!is_part()) return all_(hidden);
  const at::Tensor rows = at::tensor(sources, at::kLong).to(hidden.device());
  const at::Tensor sums = bias_.index_select(0, rows);
  const WithoutAutocast as_they_are;
  add_product(sums, hidden.to(weight_.scalar_type()), weight_.t());
  return sums;
}

std::int64_t OutputChoice::token(std::int64_t place) const {
  return is_part() ? tokens_[static_cast<std::size_t>(place)] : place;
}

Tokens OutputChoice::places(const Tokens& tokens) const {
  if (!is_part()) return tokens;
  Tokens found;
  for (const std::int64_t token : tokens) {
    const std::int64_t place = place_of(tokens_, token);
    if (place < std::ssize(tokens_) && tokens_[static_cast<std::size_t>(place)] == token)
      found.push_back(place);
  }
  return found;
}

}  // namespace pagoda
