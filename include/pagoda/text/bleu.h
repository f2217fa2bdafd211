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
  static constexpr std::size_t kOrders = 4;

  void add(std::string_view translation, std::string_view reference);
  void add(const Bleu& other);

  /// From 0 to 100; 0 when nothing was added.
  double score() const;
  /// In percent, of n-grams with n - 1 as index, smoothed.
  std::array<double, kOrders> precisions() const;
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
