#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pagoda {

/// How sacreBLEU would sign these numbers (less its version).
inline constexpr std::string_view kBleuSignature = "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp";

/// Corpus BLEU (Papineni et al., 2002) with one reference, as sacreBLEU computes it by default:
/// 13a tokens, 1- to 4-grams, exponential smoothing.
///
/// Threads: one; parts counted apart can be added up.
/// Example:
///     Bleu bleu;
///     for (...) bleu.add(translation, reference);
///     log("BLEU " + std::to_string(bleu.score()));
class Bleu {
 public:
  /// Lengths of the word groups that are counted: 1 to 4.
  static constexpr std::size_t kOrders = 4;

  /// Counts a translation and what it should be.
  void add(std::string_view translation, std::string_view reference);
  /// Adds what another has counted.
  void add(const Bleu& other);

  /// From 0 to 100; 0 when nothing was added.
  double score() const;
  /// In percent, of n-grams with n - 1 as index, smoothed.
  std::array<double, kOrders> precisions() const;
  /// What a translation that is too short loses: a factor of at most 1.
  double brevity_penalty() const;

 private:
  std::array<std::int64_t, kOrders> matches_ = {};
  std::array<std::int64_t, kOrders> totals_ = {};
  std::int64_t translation_tokens_ = 0;
  std::int64_t reference_tokens_ = 0;
};

/// The tokens that sacreBLEU's 13a makes of a line.
std::vector<std::string> bleu_tokens(std::string_view line);

}  // namespace pagoda
