#include <pagoda/base/error.h>
#include <pagoda/base/number_text.h>
#include <pagoda/models/decoding.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include "base/random_streams.h"

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

/// Decodes a batch of sources together; rows of what has ended are dropped on the way.
class Decoding {
 public:
  Decoding(Seq2Seq& model, const at::Tensor& source, const at::Tensor& lengths,
           const DecodeOptions& options)
      : model_(model), options_(options), state_(model->start(model->encode(source, lengths))) {
    const at::Tensor host_lengths = lengths.cpu();
    for (std::int64_t i = 0; i < source.size(0); ++i) {
      sources_.push_back(static_cast<std::size_t>(i));
      searches_.push_back(
          {max_length(host_lengths[i].item<std::int64_t>(), options), {Hypothesis{}}, {}});
    }
    tokens_ = at::full({source.size(0)}, options.begin_token, source.options());
  }

  std::vector<Search> run(std::int64_t kept_tokens, const Choose& choose) {
    while (tokens_.size(0) > 0) advance(kept_tokens, choose);
    return std::move(searches_);
  }

 private:
  void advance(std::int64_t kept_tokens, const Choose& choose) {
    DecoderStep step = model_->step(tokens_, state_);
    const auto forbid = [&](std::int64_t token) {
      step.log_probabilities.select(1, token).fill_(-std::numeric_limits<double>::infinity());
    };
    forbid(kPadding);
    forbid(options_.begin_token);
    for (const std::int64_t token : options_.never) forbid(token);
    const std::int64_t width = step.log_probabilities.size(1);
    const auto [scores, tokens] = step.log_probabilities.topk(std::min(kept_tokens, width), 1);
    const at::Tensor host_scores = scores.to(at::kCPU, at::kDouble);
    const at::Tensor host_tokens = tokens.cpu();

    std::vector<std::int64_t> next_rows;
    std::vector<std::int64_t> next_tokens;
    std::vector<std::size_t> next_sources;
    std::int64_t row = 0;
    for (std::size_t i = 0; i < searches_.size(); ++i) {
      Search& search = searches_[i];
      const auto count = static_cast<std::int64_t>(search.live.size());
      if (count == 0) continue;
      const auto chosen =
          choose(i, search, host_tokens.narrow(0, row, count), host_scores.narrow(0, row, count));
      std::vector<Hypothesis> live;
      for (const Continuation& next : chosen) {
        const std::int64_t parent_row = row + static_cast<std::int64_t>(next.parent);
        Hypothesis child = continued(search.live[next.parent], next, options_);
        if (options_.attention) note_attention(child, step.attention[parent_row]);
        const bool full = static_cast<std::int64_t>(child.tokens.size()) >= search.max_length;
        if (child.ended || full) {
          search.done.push_back(std::move(child));
        } else {
          live.push_back(std::move(child));
          next_rows.push_back(parent_row);
          next_tokens.push_back(next.token);
          next_sources.push_back(i);
        }
      }
      search.live = std::move(live);
      row += count;
    }
    tokens_ = at::tensor(next_tokens, tokens_.options());
    const at::Tensor rows = at::tensor(next_rows, tokens_.options());
    if (next_sources == sources_) {
      state_.continue_from(rows);
    } else {
      state_ = state_.rows(rows);
      sources_ = std::move(next_sources);
    }
  }

  static void note_attention(Hypothesis& hypothesis, const at::Tensor& weights) {
    const at::Tensor row = weights.cpu().unsqueeze(0);
    hypothesis.attention =
        hypothesis.attention.defined() ? at::cat({hypothesis.attention, row}) : row.clone();
  }

  Seq2Seq& model_;
  const DecodeOptions options_;
  DecoderState state_;
  std::vector<Search> searches_;
  at::Tensor tokens_;                 // the last of each live hypothesis, source by source
  std::vector<std::size_t> sources_;  // of each live hypothesis
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

std::vector<std::vector<Hypothesis>> beam_search(Seq2Seq& model, const at::Tensor& source,
                                                 const at::Tensor& lengths,
                                                 const BeamSearchOptions& options) {
  check(options.decode);
  if (options.n_best < 1 || options.n_best > options.beam_size) {
    throw UsageError("a beam of " + std::to_string(options.beam_size) + " cannot give the best " +
                     std::to_string(options.n_best) + "; n-best must be from 1 to the beam size");
  }
  const at::NoGradGuard no_grad;
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

std::vector<Hypothesis> greedy(Seq2Seq& model, const at::Tensor& source, const at::Tensor& lengths,
                               const DecodeOptions& options) {
  check(options);
  const at::NoGradGuard no_grad;
  Decoding decoding(model, source, lengths, options);
  return only(decoding.run(
      1, [](std::size_t, const Search& search, const at::Tensor& tokens, const at::Tensor& scores) {
        return best_continuations(search, tokens, scores, 1);
      }));
}

std::vector<Hypothesis> sample(Seq2Seq& model, const at::Tensor& source, const at::Tensor& lengths,
                               const SamplingOptions& options) {
  check(options.decode);
  if (!(options.temperature > 0) || options.top_k < 0) {
    throw UsageError("sampling needs a temperature above 0 and a top-k of at least 0, not " +
                     number_text(options.temperature) + " and " + std::to_string(options.top_k));
  }
  const at::NoGradGuard no_grad;
  std::vector<SplitMix64>
      streams;  // one for each source, so that others in the batch do not matter
  for (std::int64_t i = 0; i < source.size(0); ++i) {
    streams.emplace_back(RandomStreams(options.seed).sample(0, i));
  }
  const std::int64_t kept = options.top_k > 0 ? options.top_k : model->options().target_vocabulary;
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
