#include "models/batch_decoding.h"

#include <pagoda/base/error.h>
#include <pagoda/base/number_text.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>

namespace pagoda {
namespace {

constexpr std::int64_t kPadding = 0;

constexpr double kGreatestFactor = 1e6;

void check(const DecodeOptions& options) {
  if (options.max_length_factor > kGreatestFactor) {
    throw UsageError("a target of " + number_text(options.max_length_factor) +
                     " times its source's length is no limit; give at most " +
                     number_text(kGreatestFactor));
  }
  if (!(options.max_length_factor >= 0) || options.max_length_extra < 0 ||
      options.max_length_factor + static_cast<double>(options.max_length_extra) <= 0) {
    throw UsageError("a greatest length of " + number_text(options.max_length_factor) +
                     " times the source's and " + std::to_string(options.max_length_extra) +
                     " more leaves no token");
  }
  if (options.no_repeat_ngram < 0) {
    throw UsageError("no sequence has " + std::to_string(options.no_repeat_ngram) +
                     " tokens; the length of those that may not come twice must be at least 0");
  }
  for (const auto& prefix : options.prefixes) {
    for (const std::int64_t token : prefix) {
      if (token == kPadding || token == options.begin_token || token == options.end_token)
        throw UsageError("a prefix cannot hold token " + std::to_string(token) +
                         ", which fills up, begins or ends a target");
    }
  }
}

void check_count(const std::vector<std::vector<std::int64_t>>& lists, const char* what,
                 std::int64_t sources) {
  if (lists.empty() || std::ssize(lists) == sources) return;
  throw UsageError(std::to_string(lists.size()) + " " + what + " do not fit " +
                   std::to_string(sources) + " sources; give one for each, or none");
}

/// That every token which the options name is one of the model's.
void check_tokens(const DecodeOptions& options, std::int64_t vocabulary) {
  const auto check_one = [vocabulary](std::int64_t token, const char* what) {
    if (token < 0 || token >= vocabulary)
      throw UsageError("token " + std::to_string(token) + ", which " + what +
                       ", is not one of the vocabulary's " + std::to_string(vocabulary));
  };
  check_one(options.begin_token, "begins a target");
  check_one(options.end_token, "ends a target");
  for (const std::int64_t token : options.never) check_one(token, "may not be produced");
  for (const auto& prefix : options.prefixes) {
    for (const std::int64_t token : prefix) check_one(token, "stands in a prefix");
  }
}

/// Also that there is a prefix and a choice for each source.
const DecodeOptions& checked(const DecodeOptions& options, std::int64_t sources,
                             std::int64_t vocabulary) {
  check(options);
  check_tokens(options, vocabulary);
  check_count(options.prefixes, "prefixes", sources);
  check_count(options.choices, "choices", sources);
  return options;
}

std::int64_t max_length(std::int64_t source_length, const DecodeOptions& options) {
  const double limit = options.max_length_factor * static_cast<double>(source_length);
  return std::max<std::int64_t>(
      1, static_cast<std::int64_t>(std::ceil(limit)) + options.max_length_extra);
}

/// The hypothesis that a continuation makes of its parent.
Hypothesis continued(const Hypothesis& parent, const Continuation& next,
                     const DecodeOptions& options) {
  Hypothesis child = parent;
  child.log_probability = next.log_probability;
  child.ended = next.token == options.end_token;
  if (!child.ended) child.tokens.push_back(next.token);
  return child;
}

/// The tokens that would complete a sequence of `length` tokens that the target has already.
std::vector<std::int64_t> repeating(const std::vector<std::int64_t>& tokens, std::int64_t length) {
  std::vector<std::int64_t> found;
  const auto known = static_cast<std::size_t>(length) - 1;  // of such a sequence
  if (tokens.size() < known) return found;
  const auto end = tokens.end() - static_cast<std::ptrdiff_t>(known);
  for (std::size_t i = 0; i + known < tokens.size(); ++i) {
    if (std::equal(end, tokens.end(), tokens.begin() + static_cast<std::ptrdiff_t>(i)))
      found.push_back(tokens[i + known]);
  }
  return found;
}

void note_attention(Hypothesis& hypothesis, const at::Tensor& weights) {
  const at::Tensor row = weights.unsqueeze(0);
  hypothesis.attention =
      hypothesis.attention.defined() ? at::cat({hypothesis.attention, row}) : row.clone();
}

}  // namespace

BatchDecoding::BatchDecoding(SequenceModel& model, const at::Tensor& source,
                             const at::Tensor& lengths, const DecodeOptions& options,
                             TokenScores scores)
    : model_(model),
      options_(checked(options, source.size(0), model.tokens().target_vocabulary)),
      scores_(scores),
      output_(model, options),
      state_(model.start(source, lengths)) {
  std::vector<std::int64_t> never = options.never;
  never.push_back(kPadding);
  never.push_back(options.begin_token);
  never_ = output_.places(never);
  const at::Tensor host_lengths = lengths.cpu();
  for (std::int64_t i = 0; i < source.size(0); ++i) {
    const std::int64_t given =
        options.prefixes.empty() ? 0 : std::ssize(options.prefixes[static_cast<std::size_t>(i)]);
    const std::int64_t most = max_length(host_lengths[i].item<std::int64_t>(), options);
    searches_.push_back({std::max(most, given + 1), {Hypothesis{}}, {}});
  }
  tokens_ = at::full({source.size(0)}, options.begin_token, source.options());
}

std::vector<Search> BatchDecoding::run(std::int64_t kept_tokens, const Choose& choose) {
  while (tokens_.size(0) > 0) advance(kept_tokens, choose);
  return std::move(searches_);
}

void BatchDecoding::advance(std::int64_t kept_tokens, const Choose& choose) {
  const DecoderStep step =
      model_.step(tokens_, *state_, options_.attention ? WithAttention::yes : WithAttention::no);
  const at::Tensor attention = options_.attention ? step.attention.cpu() : at::Tensor();
  const TopTokens top = top_tokens(output_.logits(step.hidden, sources_of_rows()), kept_tokens,
                                   never_, rules(), scores_);
  name_tokens(top.tokens);
  Next next;
  std::int64_t row = 0;
  for (std::size_t i = 0; i < searches_.size(); ++i) {
    const auto count = static_cast<std::int64_t>(searches_[i].live.size());
    if (count == 0) continue;
    const auto chosen =
        choose(i, searches_[i], top.tokens.narrow(0, row, count), top.scores.narrow(0, row, count));
    follow(searches_[i], chosen, row, attention, next);
    row += count;
  }
  tokens_ = at::tensor(next.tokens, tokens_.options());
  state_->select(at::tensor(next.rows, tokens_.options()));
}

void BatchDecoding::follow(Search& search, const std::vector<Continuation>& chosen,
                           std::int64_t first_row, const at::Tensor& attention, Next& next_step) {
  std::vector<Hypothesis> live;
  if (chosen.empty()) search.done.push_back(search.live.front());  // nothing may follow it
  for (const Continuation& next : chosen) {
    const std::int64_t row = first_row + static_cast<std::int64_t>(next.parent);
    Hypothesis child = continued(search.live[next.parent], next, options_);
    if (options_.attention) note_attention(child, attention[row]);
    const bool full = static_cast<std::int64_t>(child.tokens.size()) >= search.max_length;
    if (child.ended || full) {
      search.done.push_back(std::move(child));
    } else {
      live.push_back(std::move(child));
      next_step.rows.push_back(row);
      next_step.tokens.push_back(next.token);
    }
  }
  search.live = std::move(live);
}

/// By live hypothesis; nothing where nobody asks.
std::vector<std::int64_t> BatchDecoding::sources_of_rows() const {
  std::vector<std::int64_t> sources;
  if (!output_.is_part()) return sources;
  for (std::size_t i = 0; i < searches_.size(); ++i)
    sources.insert(sources.end(), searches_[i].live.size(), static_cast<std::int64_t>(i));
  return sources;
}

/// Puts tokens where their places are.
void BatchDecoding::name_tokens(const at::Tensor& places) const {
  if (!output_.is_part()) return;
  auto* values = places.mutable_data_ptr<std::int64_t>();
  for (std::int64_t i = 0; i < places.numel(); ++i) values[i] = output_.token(values[i]);
}

/// What each live hypothesis may be followed by, as places; none where there is nothing to say.
std::vector<TokenRule> BatchDecoding::rules() const {
  std::vector<TokenRule> rules;
  if (options_.prefixes.empty() && options_.no_repeat_ngram == 0) return rules;
  for (std::size_t i = 0; i < searches_.size(); ++i) {
    for (const Hypothesis& one : searches_[i].live) rules.push_back(rule(i, one.tokens));
  }
  return rules;
}

TokenRule BatchDecoding::rule(std::size_t source, const std::vector<std::int64_t>& tokens) const {
  TokenRule rule;
  if (!options_.prefixes.empty() && tokens.size() < options_.prefixes[source].size())
    rule.only = output_.places({options_.prefixes[source][tokens.size()]}).front();
  if (options_.no_repeat_ngram > 0)
    rule.never = output_.places(repeating(tokens, options_.no_repeat_ngram));
  return rule;
}

}  // namespace pagoda
