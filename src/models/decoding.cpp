#include <pagoda/base/error.h>
#include <pagoda/base/number_text.h>
#include <pagoda/models/decoding.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include <c10/core/InferenceMode.h>

#include "base/random_streams.h"
#include "models/batch_decoding.h"

namespace pagoda {
namespace {

/// The best continuations of all live hypotheses together.
std::vector<Continuation> best_continuations(const Search& search, const at::Tensor& tokens,
                                             const at::Tensor& scores, std::size_t count) {
  const auto token = tokens.accessor<std::int64_t, 2>();
  const auto score = scores.accessor<double, 2>();
  std::vector<Continuation> all;
  for (std::size_t parent = 0; parent < search.live.size(); ++parent) {
    const auto row = static_cast<std::int64_t>(parent);
    for (std::int64_t i = 0; i < tokens.size(1); ++i) {
      // A token that is never produced, or a model that has gone wrong.
      if (!std::isfinite(score[row][i])) continue;
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
  if (options.n_best < 1 || options.n_best > options.beam_size) {
    throw UsageError("a beam of " + std::to_string(options.beam_size) + " cannot give the best " +
                     std::to_string(options.n_best) + "; n-best must be from 1 to the beam size");
  }
  const c10::InferenceMode no_graph;
  BatchDecoding decoding(model, source, lengths, options.decode);
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
  const c10::InferenceMode no_graph;
  const bool scored = scores == WithScores::yes;
  BatchDecoding decoding(model, source, lengths, options,
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
  BatchDecoding decoding(model, source, lengths, options.decode);
  return only(decoding.run(kept, [&](std::size_t source_number, const Search& search,
                                     const at::Tensor& tokens, const at::Tensor& scores) {
    // The best token comes first, those that are never produced last.
    const auto count = scores[0].isfinite().sum().item<std::int64_t>();
    if (count == 0) return std::vector<Continuation>{};
    const at::Tensor possible = scores[0].narrow(0, 0, count);
    // Only differences matter; the best one's, 0, stays a number at any temperature.
    const at::Tensor chances =
        ((possible - possible[0]) / options.temperature).softmax(0).cumsum(0);
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
