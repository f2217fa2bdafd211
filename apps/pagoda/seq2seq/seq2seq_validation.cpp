#include "seq2seq/seq2seq_validation.h"

#include <pagoda/text/bleu.h>
#include <pagoda/text/sequence_batches.h>
#include <pagoda/train/evaluate.h>

#include <cmath>

#include "seq2seq/attention_output.h"
#include "seq2seq/seq2seq_loss.h"
#include "seq2seq/translator.h"

namespace pagoda::app {
namespace {

constexpr std::size_t kShownTranslations = 3;

class Tester {
 public:
  Tester(Towers<Seq2Seq>& towers, const TextFlags& flags, const Codecs& codecs,
         const EncodedText& text)
      : towers_(towers), flags_(flags), codecs_(codecs), text_(text) {}

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
        towers_,
        SequenceBatches(pairs, towers_.size(), {.plan = {.batch_size = 64, .shuffle = false}}),
        score_pairs);
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
    const auto translations = translate_lines(towers_, codecs_, text_.sources, greedy_decoding());
    Bleu bleu;
    double exact = 0;
    for (std::size_t i = 0; i < translations.size(); ++i) {
      const std::string& found = translations[i].front().text;
      bleu.add(found, text_.references[i]);
      exact += found == text_.references[i] ? 1 : 0;
      if (i < kShownTranslations)
        result.shown.push_back({text_.sources[i], found, text_.references[i]});
    }
    result.evaluation.metrics.emplace_back("bleu", bleu.score());
    result.evaluation.metrics.emplace_back("exact",
                                           exact / static_cast<double>(translations.size()));
  }

  Towers<Seq2Seq>& towers_;
  const TextFlags& flags_;
  const Codecs& codecs_;
  const EncodedText& text_;
};

}  // namespace

std::string TranslatedPair::text() const {
  return source + " → " + translation + " (" + reference + ")";
}

Seq2SeqTest test_seq2seq(Towers<Seq2Seq>& towers, const TextFlags& flags, const Codecs& codecs,
                         const EncodedText& text) {
  return Tester(towers, flags, codecs, text).run();
}

Validation validate_seq2seq(Towers<Seq2Seq>& towers, const TextFlags& flags, const Codecs& codecs,
                            const EncodedText& text) {
  Seq2SeqTest test = test_seq2seq(towers, flags, codecs, text);
  Validation validation{.evaluation = std::move(test.evaluation)};
  for (const TranslatedPair& pair : test.shown) validation.notes.push_back(pair.text());
  if (text.sources.empty()) return validation;
  const auto found =
      translate_lines(towers, codecs, {text.sources.front()}, greedy_decoding({.attention = true}));
  if (const auto& attention = found.front().front().attention)
    validation.pictures.emplace_back("attention", attention_picture(attention->weights));
  return validation;
}

}  // namespace pagoda::app
