#include <pagoda/base/error.h>
#include <pagoda/base/number_text.h>
#include <pagoda/models/decoding.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <string>

#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>
#include <c10/core/InferenceMode.h>

#include "base/random_streams.h"
#include "models/output_choice.h"
#include "models/top_tokens.h"

namespace pagoda {
namespace {

constexpr std::int64_t kPadding = 0;

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

void check(const DecodeOptions& options) {
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

/// Also that there is a prefix and a choice for each source.
void check(const DecodeOptions& options, std::int64_t sources) {
  check(options);
  check_count(options.prefixes, "prefixes", sources);
  check_count(options.choices, "choices", sources);
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

/// Decodes a batch of sources together; rows of what has ended are dropped on the way.
class Decoding {
 public:
  Decoding(SequenceModel& model, const at::Tensor& source, const at::Tensor& lengths,
           const DecodeOptions& options, TokenScores scores = TokenScores::log_probabilities)
      : model_(model),
        options_(options),
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

  std::vector<Search> run(std::int64_t kept_tokens, const Choose& choose) {
    while (tokens_.size(0) > 0) advance(kept_tokens, choose);
    return std::move(searches_);
  }

 private:
  /// The live hypotheses of the next step: which row each comes from, and its last token.
  struct Next {
    std::vector<std::int64_t> rows;
    std::vector<std::int64_t> tokens;
  };

  void advance(std::int64_t kept_tokens, const Choose& choose) {
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
      const auto chosen = choose(i, searches_[i], top.tokens.narrow(0, row, count),
                                 top.scores.narrow(0, row, count));
      follow(searches_[i], chosen, row, attention, next);
      row += count;
    }
    tokens_ = at::tensor(next.tokens, tokens_.options());
    state_->select(at::tensor(next.rows, tokens_.options()));
  }

  void follow(Search& search, const std::vector<Continuation>& chosen, std::int64_t first_row,
              const at::Tensor& attention, Next& next_step) {
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
  std::vector<std::int64_t> sources_of_rows() const {
    std::vector<std::int64_t> sources;
    if (!output_.is_part()) return sources;
    for (std::size_t i = 0; i < searches_.size(); ++i)
      sources.insert(sources.end(), searches_[i].live.size(), static_cast<std::int64_t>(i));
    return sources;
  }

  /// Puts tokens where their places are.
  void name_tokens(const at::Tensor& places) const {
    if (!output_.is_part()) return;
    auto* values = places.mutable_data_ptr<std::int64_t>();
    for (std::int64_t i = 0; i < places.numel(); ++i) values[i] = output_.token(values[i]);
  }

  /// What each live hypothesis may be followed by, as places; none where there is nothing to say.
  std::vector<TokenRule> rules() const {
    std::vector<TokenRule> rules;
    if (options_.prefixes.empty() && options_.no_repeat_ngram == 0) return rules;
    for (std::size_t i = 0; i < searches_.size(); ++i) {
      for (const Hypothesis& one : searches_[i].live) rules.push_back(rule(i, one.tokens));
    }
    return rules;
  }

  TokenRule rule(std::size_t source, const std::vector<std::int64_t>& tokens) const {
    TokenRule rule;
    if (!options_.prefixes.empty() && tokens.size() < options_.prefixes[source].size())
      rule.only = output_.places({options_.prefixes[source][tokens.size()]}).front();
    if (options_.no_repeat_ngram > 0)
      rule.never = output_.places(repeating(tokens, options_.no_repeat_ngram));
    return rule;
  }

  static void note_attention(Hypothesis& hypothesis, const at::Tensor& weights) {
    const at::Tensor row = weights.unsqueeze(0);
    hypothesis.attention =
        hypothesis.attention.defined() ? at::cat({hypothesis.attention, row}) : row.clone();
  }

  SequenceModel& model_;
  const DecodeOptions& options_;
  const TokenScores scores_;
  const OutputChoice output_;
  std::vector<std::int64_t> never_;  // places
  std::unique_ptr<DecoderState> state_;
  std::vector<Search> searches_;
  at::Tensor tokens_;  // the last of each live hypothesis, source by source
};

/// The best continuations of all live hypotheses together.
std::vector<Continuation> best_continuations(const Search& search, const at::Tensor& tokens,
                                             const at::Tensor& scores, std::size_t count) {
  const auto token = tokens.accessor<std::int64_t, 2>();
  const auto score = scores.accessor<double, 2>();
  std::vector<Continuation> all;
  for (std::size_t parent = 0; parent < search.live.size(); ++parent) {
    const auto row = static_cast<std::int64_t>(parent);
    for (std::int64_t i = 0; i < tokens.size(1); ++i) {
      if (std::isinf(score[row][i])) continue;  // a token that is never produced
      all.push_back({parent, token[row][i], search.live[parent].log_probability + score[row][i]});
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const Continuation& a, const Continuation& b) {
    return a.log_probability > b.log_probability;
  });
  all.resize(std::min(all.size(), count));
  return all;
}

double length_of(const Hypothesis& one) {
  return static_cast<double>(one.tokens.size()) + (one.ended ? 1 : 0);
}

std::vector<Hypothesis> only(std::vector<Search> searches) {
  std::vector<Hypothesis> results;
  for (auto& search : searches) {
    results.push_back(std::move(search.done.front()));
    results.back().score = results.back().log_probability;
  }
  return results;
}

}  // namespace

std::vector<std::vector<Hypothesis>> beam_search(SequenceModel& model, const at::Tensor& source,
                                                 const at::Tensor& lengths,
                                                 const BeamSearchOptions& options) {
  check(options.decode, source.size(0));
  if (options.n_best < 1 || options.n_best > options.beam_size) {
    throw UsageError("a beam of " + std::to_string(options.beam_size) + " cannot give the best " +
                     std::to_string(options.n_best) + "; n-best must be from 1 to the beam size");
  }
  const c10::InferenceMode no_graph;
  Decoding decoding(model, source, lengths, options.decode);
  const auto choose = [&](std::size_t, const Search& search, const at::Tensor& tokens,
                          const at::Tensor& scores) {
    const std::size_t places = static_cast<std::size_t>(options.beam_size) - search.done.size();
    return best_continuations(search, tokens, scores, places);
  };
  std::vector<std::vector<Hypothesis>> results;
  for (Search& search : decoding.run(options.beam_size, choose)) {
    for (auto& one : search.done) {
      one.score = one.log_probability / std::pow(length_of(one), options.length_penalty);
    }
    std::stable_sort(search.done.begin(), search.done.end(),
                     [](const auto& a, const auto& b) { return a.score > b.score; });
    search.done.resize(std::min(search.done.size(), static_cast<std::size_t>(options.n_best)));
    results.push_back(std::move(search.done));
  }
  return results;
}

std::vector<Hypothesis> greedy(SequenceModel& model, const at::Tensor& source,
                               const at::Tensor& lengths, const DecodeOptions& options,
                               WithScores scores) {
  check(options, source.size(0));
  const c10::InferenceMode no_graph;
  const bool scored = scores == WithScores::yes;
  Decoding decoding(model, source, lengths, options,
                    scored ? TokenScores::log_probabilities : TokenScores::logits);
  std::vector<Hypothesis> found = only(decoding.run(
      1, [](std::size_t, const Search& search, const at::Tensor& tokens, const at::Tensor& best) {
        return best_continuations(search, tokens, best, 1);
      }));
  if (scored) return found;
  for (Hypothesis& one : found) one.log_probability = one.score = 0;
  return found;
}

std::vector<Hypothesis> sample(SequenceModel& model, const at::Tensor& source,
                               const at::Tensor& lengths, const SamplingOptions& options) {
  check(options.decode, source.size(0));
  if (!(options.temperature > 0) || options.top_k < 0) {
    throw UsageError("sampling needs a temperature above 0 and a top-k of at least 0, not " +
                     number_text(options.temperature) + " and " + std::to_string(options.top_k));
  }
  const c10::InferenceMode no_graph;
  std::vector<SplitMix64>
      streams;  // one for each source, so that others in the batch do not matter
  for (std::int64_t i = 0; i < source.size(0); ++i) {
    streams.emplace_back(RandomStreams(options.seed).sample(0, i));
  }
  const std::int64_t kept = options.top_k > 0 ? options.top_k : model.tokens().target_vocabulary;
  Decoding decoding(model, source, lengths, options.decode);
  return only(decoding.run(kept, [&](std::size_t source_number, const Search& search,
                                     const at::Tensor& tokens, const at::Tensor& scores) {
    // The tokens that are never produced come last.
    const at::Tensor possible =
        scores[0].narrow(0, 0, scores[0].isfinite().sum().item<std::int64_t>());
    const at::Tensor chances = (possible / options.temperature).softmax(0).cumsum(0);
    const double drawn = streams[source_number].uniform();
    const auto* begin = chances.const_data_ptr<double>();
    const auto* found = std::upper_bound(begin, begin + chances.numel() - 1, drawn);
    const std::int64_t place = found - begin;
    return std::vector<Continuation>{
        {0, tokens[0][place].item<std::int64_t>(),
         search.live[0].log_probability + scores[0][place].item<double>()}};
  }));
}

}  // namespace pagoda
