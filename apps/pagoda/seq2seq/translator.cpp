#include "seq2seq/translator.h"

#include <pagoda/text/sequence_batches.h>
#include <pagoda/train/evaluate.h>
#include <pagoda/train/step_feeds.h>

#include <algorithm>
#include <memory>
#include <utility>

#include <ATen/core/grad_mode.h>

namespace pagoda::app {
namespace {

/// Numbers of lines with tokens, in batches of similar length: so many tokens, as they are filled up,
/// but not so many lines that a tower would have none.
std::vector<std::vector<std::size_t>> batches_of(const std::vector<std::vector<TokenId>>& sources,
                                                 std::size_t batch_tokens, std::size_t towers) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (!sources[i].empty()) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return sources[a].size() > sources[b].size();
  });
  const std::size_t most_lines = (order.size() + towers - 1) / towers;
  std::vector<std::vector<std::size_t>> batches;
  std::size_t longest = 0;  // of the last batch
  for (const std::size_t line : order) {
    const bool is_full = batches.empty() || batches.back().size() == most_lines ||
                         (batches.back().size() + 1) * longest > batch_tokens;
    if (is_full) {
      batches.emplace_back();
      longest = sources[line].size();
    }
    batches.back().push_back(line);
  }
  return batches;
}

std::vector<std::string> names_of(const Vocabulary& vocabulary, const std::vector<TokenId>& ids) {
  std::vector<std::string> names;
  for (const TokenId id : ids) names.push_back(vocabulary.token(id));
  return names;
}

std::vector<Translation> translations_of(const Codecs& codecs, const std::vector<TokenId>& source,
                                         const std::vector<Hypothesis>& hypotheses) {
  std::vector<Translation> translations;
  for (const auto& hypothesis : hypotheses) {
    std::vector<TokenId> tokens(hypothesis.tokens.begin(), hypothesis.tokens.end());
    auto& translation = translations.emplace_back(
        Translation{.text = codecs.target.decode(tokens),
                    .score = hypothesis.score,
                    .tokens = names_of(codecs.target.vocabulary(), tokens)});
    if (!hypothesis.attention.defined()) continue;
    if (hypothesis.ended) tokens.push_back(kEnd);
    // A shorter source of the batch was filled up.
    const auto places = static_cast<std::int64_t>(source.size());
    translation.attention = AttentionWeights{.source = names_of(codecs.source.vocabulary(), source),
                                             .target = names_of(codecs.target.vocabulary(), tokens),
                                             .weights = hypothesis.attention.narrow(1, 0, places)};
  }
  return translations;
}

std::vector<std::vector<Hypothesis>> one_each(std::vector<Hypothesis> hypotheses) {
  std::vector<std::vector<Hypothesis>> found;
  for (auto& hypothesis : hypotheses) found.push_back({std::move(hypothesis)});
  return found;
}

/// What the towers share while they decode; each has its own batches.
struct Decoding {
  TypedReplicas<SequenceModelPtr> models;
  TowerShare share;
  Decode decode;
  ShortlistChoice shortlist;
  std::vector<std::vector<TokenId>> sources;
  std::vector<std::vector<std::size_t>> batches;
  std::vector<std::vector<Hypothesis>> found;  // by line

  void run(int tower, Precision precision, const Device& device) {
    const at::NoGradGuard no_grad;
    const PrecisionScope scope(precision, device);
    for (const std::size_t b : feeds_of(share.first + tower, share.total, batches.size())) {
      std::vector<std::vector<TokenId>> chosen;
      for (const std::size_t line : batches[b]) chosen.push_back(sources[line]);
      const SequenceBatch batch = models.on_tower(source_batch(chosen), tower);
      auto decoded = decode(*models.model(tower), batch.source, batch.source_lengths,
                            shortlist.choices(chosen));
      for (std::size_t i = 0; i < decoded.size(); ++i) found[batches[b][i]] = std::move(decoded[i]);
    }
  }
};

}  // namespace

std::vector<std::vector<Translation>> translate_lines(Towers<SequenceModelPtr>& towers,
                                                      const Codecs& codecs,
                                                      const std::vector<std::string>& lines,
                                                      const Decode& decode,
                                                      const TranslatorOptions& options) {
  std::vector<std::vector<TokenId>> sources;
  for (const auto& line : lines) {
    sources.push_back(codecs.source.encode(line));
    if (static_cast<std::int64_t>(sources.back().size()) > options.max_length)
      sources.back().resize(static_cast<std::size_t>(options.max_length));
  }
  const TowerShare share = options.share.value_or(towers.size());
  // Shared: a tower that is late outlives this call.
  const auto work = std::make_shared<Decoding>(
      Decoding{.models = towers.typed_replicas(),
               .share = share,
               .decode = decode,
               .shortlist = options.shortlist,
               .sources = sources,
               .batches = batches_of(sources, static_cast<std::size_t>(options.batch_tokens),
                                     static_cast<std::size_t>(share.total)),
               .found = std::vector<std::vector<Hypothesis>>(lines.size())});
  const EvaluationPhase phase(towers);
  towers.run({.name = "decoding"}, [work, replicas = towers.replicas()](TowerJob& job) {
    work->run(job.tower, replicas->options().precision, replicas->device(job.tower));
  });
  std::vector<std::vector<Translation>> results;
  for (std::size_t line = 0; line < lines.size(); ++line) {
    results.push_back(translations_of(codecs, sources[line], work->found[line]));
    const bool has_tokens = !sources[line].empty();
    if (results.back().empty() && !(has_tokens && options.share)) results.back().push_back({});
  }
  return results;
}

std::vector<std::vector<std::int64_t>> ShortlistChoice::choices(
    const std::vector<std::vector<TokenId>>& sources) const {
  std::vector<std::vector<std::int64_t>> found;
  if (list == nullptr) return found;
  for (const auto& source : sources)
    found.push_back(
        list->tokens_for(std::vector<std::int64_t>(source.begin(), source.end()), count));
  return found;
}

DecodeOptions translation_options() { return {.never = {kUnknown}}; }

Decode greedy_decoding(const DecodeOptions& options, WithScores scores) {
  return [options, scores](SequenceModel& model, const at::Tensor& source,
                           const at::Tensor& lengths, const auto& choices) {
    DecodeOptions now = options;
    now.choices = choices;
    return one_each(greedy(model, source, lengths, now, scores));
  };
}

Decode beam_decoding(const BeamSearchOptions& options) {
  return [options](SequenceModel& model, const at::Tensor& source, const at::Tensor& lengths,
                   const auto& choices) {
    BeamSearchOptions now = options;
    now.decode.choices = choices;
    return beam_search(model, source, lengths, now);
  };
}

Decode sampled_decoding(const SamplingOptions& options) {
  return [options](SequenceModel& model, const at::Tensor& source, const at::Tensor& lengths,
                   const auto& choices) {
    SamplingOptions now = options;
    now.decode.choices = choices;
    return one_each(sample(model, source, lengths, now));
  };
}

}  // namespace pagoda::app
