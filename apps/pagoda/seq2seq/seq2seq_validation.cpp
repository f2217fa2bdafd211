#include "seq2seq/seq2seq_validation.h"

#include <pagoda/run/world_choice.h>
#include <pagoda/text/bleu.h>
#include <pagoda/text/sequence_batches.h>
#include <pagoda/train/evaluate.h>

#include <cmath>
#include <optional>

#include "run/lines_of_all.h"
#include "seq2seq/attention_output.h"
#include "seq2seq/seq2seq_loss.h"
#include "seq2seq/translator.h"

namespace pagoda::app {
namespace {

constexpr std::size_t kShownTranslations = 3;

class Tester {
 public:
  Tester(Towers<SequenceModelPtr>& towers, const TextFlags& flags, const Codecs& codecs,
         const EncodedText& text, World* world)
      : towers_(towers),
        flags_(flags),
        codecs_(codecs),
        text_(text),
        world_(world),
        share_(tower_share(world, towers.size())) {}

  Seq2SeqTest run() {
    Seq2SeqTest result{.pairs = text_.valid.size(), .evaluation = evaluated(text_.valid)};
    auto& metrics = result.evaluation.metrics;
    for (const auto& bucket : flags_.length_buckets()) {
      metrics.emplace_back(
          "perplexity_" + std::to_string(bucket.source) + "_" + std::to_string(bucket.target),
          evaluated_bucket(bucket));
    }
    if (!text_.sources.empty()) add_translations(result);
    return result;
  }

 private:
  /// The mean over all tokens of the likelihood, not of the smoothed loss.
  Evaluation evaluated(const PairStore& pairs) {
    Evaluation evaluation = evaluate(
        towers_, SequenceBatches(pairs, share_, {.plan = {.batch_size = 64, .shuffle = false}}),
        score_pairs);
    if (world_ != nullptr) evaluation = evaluation_of_all(*world_, evaluation);
    const double nll = evaluation.metric("nll");
    evaluation.loss = nll;
    evaluation.metrics = {{"perplexity", std::exp(nll)}};
    return evaluation;
  }

  double evaluated_bucket(const LengthBucket& bucket) {
    PairStore pairs;
    for (std::int64_t i = 0; i < text_.valid.size(); ++i) {
      const auto source = text_.valid.sources[i];
      const auto target = text_.valid.targets[i];
      if (static_cast<std::int64_t>(source.size()) > bucket.source ||
          static_cast<std::int64_t>(target.size()) > bucket.target)
        continue;
      pairs.sources.add(source);
      pairs.targets.add(target);
    }
    return pairs.size() > 0 ? evaluated(pairs).metric("perplexity") : std::nan("");
  }

  void add_translations(Seq2SeqTest& result) {
    const std::vector<std::string> translations = translated();
    Bleu bleu;
    double exact = 0;
    for (std::size_t i = 0; i < translations.size(); ++i) {
      const std::string& found = translations[i];
      bleu.add(found, text_.references[i]);
      exact += found == text_.references[i] ? 1 : 0;
      if (i < kShownTranslations)
        result.shown.push_back({text_.sources[i], found, text_.references[i]});
    }
    result.evaluation.metrics.emplace_back("bleu", bleu.score());
    result.evaluation.metrics.emplace_back("exact",
                                           exact / static_cast<double>(translations.size()));
  }

  /// Every line's translation, whichever process has made it.
  std::vector<std::string> translated() {
    const auto found = translate_lines(
        towers_, codecs_, text_.sources, greedy_decoding(translation_options(), WithScores::no),
        {.share = world_ != nullptr ? std::optional(share_) : std::nullopt});
    std::vector<std::optional<std::string>> own;
    for (const auto& line : found)
      own.push_back(line.empty() ? std::nullopt : std::optional(line.front().text));
    return lines_of_all(world_, own);
  }

  Towers<SequenceModelPtr>& towers_;
  const TextFlags& flags_;
  const Codecs& codecs_;
  const EncodedText& text_;
  World* const world_;
  const TowerShare share_;
};

}  // namespace

std::string TranslatedPair::text() const {
  return source + " → " + translation + " (" + reference + ")";
}

Seq2SeqTest test_seq2seq(Towers<SequenceModelPtr>& towers, const TextFlags& flags,
                         const Codecs& codecs, const EncodedText& text, World* world) {
  return Tester(towers, flags, codecs, text, world).run();
}

Validation validate_seq2seq(Towers<SequenceModelPtr>& towers, const TextFlags& flags,
                            const Codecs& codecs, const EncodedText& text, World* world) {
  Seq2SeqTest test = test_seq2seq(towers, flags, codecs, text, world);
  Validation validation{.evaluation = std::move(test.evaluation)};
  for (const TranslatedPair& pair : test.shown) validation.notes.push_back(pair.text());
  if (text.sources.empty() || (world != nullptr && world->rank() > 0)) return validation;
  DecodeOptions options = translation_options();
  options.attention = true;
  const auto found =
      translate_lines(towers, codecs, {text.sources.front()}, greedy_decoding(options));
  if (const auto& attention = found.front().front().attention)
    validation.pictures.emplace_back("attention", attention_picture(attention->weights));
  return validation;
}

}  // namespace pagoda::app
