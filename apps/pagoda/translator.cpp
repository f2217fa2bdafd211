#include "translator.h"

#include <pagoda/text/sequence_batches.h>
#include <pagoda/train/evaluate.h>

#include <algorithm>
#include <numeric>

#include <ATen/core/grad_mode.h>

namespace pagoda::app {
namespace {

/// Numbers of lines with tokens, in batches of similar length.
std::vector<std::vector<std::size_t>> batches_of(const std::vector<std::vector<TokenId>>& sources,
                                                 std::size_t batch_size) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (!sources[i].empty()) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return sources[a].size() > sources[b].size();
  });
  std::vector<std::vector<std::size_t>> batches;
  for (std::size_t i = 0; i < order.size(); i += batch_size) {
    const auto begin = order.begin() + static_cast<std::ptrdiff_t>(i);
    const auto end =
        order.begin() + static_cast<std::ptrdiff_t>(std::min(order.size(), i + batch_size));
    batches.emplace_back(begin, end);
  }
  return batches;
}

std::vector<Translation> texts(const TextCodec& codec, const std::vector<Hypothesis>& hypotheses) {
  std::vector<Translation> translations;
  for (const auto& hypothesis : hypotheses) {
    const std::vector<TokenId> tokens(hypothesis.tokens.begin(), hypothesis.tokens.end());
    translations.push_back({codec.decode(tokens), hypothesis.score});
  }
  return translations;
}

}  // namespace

std::vector<std::vector<Translation>> translate_lines(Towers<Seq2Seq>& towers, const Codecs& codecs,
                                                      const std::vector<std::string>& lines,
                                                      const Decode& decode,
                                                      const TranslatorOptions& options) {
  std::vector<std::vector<TokenId>> sources;
  for (const auto& line : lines) {
    sources.push_back(codecs.source.encode(line));
    if (static_cast<std::int64_t>(sources.back().size()) > options.max_length)
      sources.back().resize(static_cast<std::size_t>(options.max_length));
  }
  const auto batches = batches_of(sources, static_cast<std::size_t>(options.batch_size));
  std::vector<std::vector<Translation>> results(lines.size());
  const EvaluationPhase phase(towers);
  towers.run({.name = "decoding"}, [&](TowerJob& job) {
    const at::NoGradGuard no_grad;
    const auto stride = static_cast<std::size_t>(towers.size());
    for (auto b = static_cast<std::size_t>(job.tower); b < batches.size(); b += stride) {
      std::vector<std::vector<TokenId>> chosen;
      for (const std::size_t line : batches[b]) chosen.push_back(sources[line]);
      const SequenceBatch batch = source_batch(chosen).with_tensors(
          [&](const at::Tensor& tensor) { return towers.on_tower(tensor, job.tower); });
      const auto found = decode(towers.model(job.tower), batch.source, batch.source_lengths);
      for (std::size_t i = 0; i < found.size(); ++i)
        results[batches[b][i]] = texts(codecs.target, found[i]);
    }
  });
  for (auto& result : results) {
    if (result.empty()) result.push_back({});
  }
  return results;
}

Decode greedy_decoding() {
  return [](Seq2Seq& model, const at::Tensor& source, const at::Tensor& lengths) {
    std::vector<std::vector<Hypothesis>> found;
    for (auto& hypothesis : greedy(model, source, lengths))
      found.push_back({std::move(hypothesis)});
    return found;
  };
}

}  // namespace pagoda::app
