#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pagoda {

/// The signature that sacreBLEU would print with these numbers, without its version.
inline constexpr std::string_view kBleuSignature = "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp";

/// Corpus BLEU (Papineni et al., 2002) with one reference per sentence, as sacreBLEU computes it by
/// default: 13a tokens, 1- to 4-grams, exponential smoothing.
///
/// Threads: one at a time; parts of a corpus can be counted separately and then added up.
/// Example:
///     Bleu bleu;
///     for (...) bleu.add(translation, reference);
///     log("BLEU " + std::to_string(bleu.score()));
class Bleu {
 public:
  /// The n-grams counted are those of 1 to this many tokens.
  static constexpr std::size_t kOrders = 4;

  /// Counts a translation against its reference.
  void add(std::string_view translation, std::string_view reference);
  /// Adds the counts of another.
  void add(const Bleu& other);

  /// From 0 to 100; 0 when nothing was added, nothing matches, or no translation has four tokens.
  double score() const;
  /// The smoothed precisions in percent; element n - 1 is that of the n-grams.
  std::array<double, kOrders> precisions() const;
  /// The factor, at most 1, by which translations that are too short lower the score.
  double brevity_penalty() const;

 private:
  std::array<std::int64_t, kOrders> matches_ = {};
  std::array<std::int64_t, kOrders> totals_ = {};
  std::int64_t translation_tokens_ = 0;
  std::int64_t reference_tokens_ = 0;
};

/// The tokens of a line, as sacreBLEU's 13a tokenizer finds them.
std::vector<std::string> bleu_tokens(std::string_view line);

}  // namespace pagoda
