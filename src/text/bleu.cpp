#include <pagoda/text/bleu.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <unordered_map>

#include "text/character_class.h"

namespace pagoda {
namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

bool is_decimal(char byte) { return byte >= '0' && byte <= '9'; }
bool is_dot(char byte) { return byte == '.' || byte == ','; }

/// ASCII marks that are tokens wherever they stand: all but ' - . , and those that are letters or
/// digits.
bool stands_alone(char byte) {
  const auto code = static_cast<unsigned char>(byte);
  return code > 0x20 && code < 0x7F && std::ispunct(code) != 0 && byte != '\'' && byte != '-' &&
         !is_dot(byte);
}

/// Puts blanks around what `first` and `second` mark, in pairs that do not overlap, from the left.
template <class First, class Second>
std::string cut(const std::string& text, bool before, bool after, First first, Second second) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i + 1 < text.size() && first(text[i]) && second(text[i + 1])) {
      if (before) result += ' ';
      result += text[i];
      result += ' ';
      result += text[i + 1];
      if (after) result += ' ';
      ++i;
    } else {
      result += text[i];
    }
  }
  return result;
}

using NGrams = std::unordered_map<std::string, std::int64_t>;

NGrams n_grams(const std::vector<std::string>& tokens, std::size_t n) {
  NGrams counts;
  for (std::size_t i = 0; i + n <= tokens.size(); ++i) {
    std::string gram;
    for (std::size_t j = i; j < i + n; ++j) gram += tokens[j] + ' ';
    ++counts[gram];
  }
  return counts;
}

}  // namespace

std::vector<std::string> bleu_tokens(std::string_view line) {
  std::string text(line);
  replace_all(text, "<skipped>", "");
  if (text.find('&') != std::string::npos) {
    replace_all(text, "&quot;", "\"");
    replace_all(text, "&amp;", "&");
    replace_all(text, "&lt;", "<");
    replace_all(text, "&gt;", ">");
  }
  std::string spaced = " ";
  for (const char byte : text) {
    spaced += stands_alone(byte) ? std::string{' ', byte, ' '} : std::string{byte};
  }
  spaced += ' ';
  const auto not_decimal = [](char byte) { return !is_decimal(byte); };
  const auto is_hyphen = [](char byte) { return byte == '-'; };
  spaced = cut(spaced, false, true, not_decimal, is_dot);
  spaced = cut(spaced, true, false, is_dot, not_decimal);
  spaced = cut(spaced, false, true, is_decimal, is_hyphen);
  std::vector<std::string> tokens;
  for (const std::string_view word : split_at_spaces(spaced)) tokens.emplace_back(word);
  return tokens;
}

void Bleu::add(std::string_view translation, std::string_view reference) {
  const auto ours = bleu_tokens(translation);
  const auto theirs = bleu_tokens(reference);
  translation_tokens_ += static_cast<std::int64_t>(ours.size());
  reference_tokens_ += static_cast<std::int64_t>(theirs.size());
  for (std::size_t n = 1; n <= kOrders; ++n) {
    const NGrams expected = n_grams(theirs, n);
    for (const auto& [gram, count] : n_grams(ours, n)) {
      const auto found = expected.find(gram);
      if (found != expected.end()) matches_[n - 1] += std::min(count, found->second);
      totals_[n - 1] += count;
    }
  }
}

void Bleu::add(const Bleu& other) {
  for (std::size_t n = 0; n < kOrders; ++n) {
    matches_[n] += other.matches_[n];
    totals_[n] += other.totals_[n];
  }
  translation_tokens_ += other.translation_tokens_;
  reference_tokens_ += other.reference_tokens_;
}

std::array<double, Bleu::kOrders> Bleu::precisions() const {
  std::array<double, kOrders> precisions = {};
  if (matches_[0] == 0) return precisions;  // then no longer n-gram matches either
  double smoothing = 1;
  for (std::size_t n = 0; n < kOrders && totals_[n] > 0; ++n) {
    if (matches_[n] == 0) smoothing *= 2;
    const double matches = matches_[n] == 0 ? 1 / smoothing : static_cast<double>(matches_[n]);
    precisions[n] = 100 * matches / static_cast<double>(totals_[n]);
  }
  return precisions;
}

double Bleu::brevity_penalty() const {
  if (translation_tokens_ >= reference_tokens_) return 1;
  if (translation_tokens_ == 0) return 0;
  return std::exp(1 - static_cast<double>(reference_tokens_) /
                          static_cast<double>(translation_tokens_));
}

double Bleu::score() const {
  double logarithms = 0;
  for (const double precision : precisions()) {
    if (precision == 0) return 0;  // nothing matches, or translations too short for such n-grams
    logarithms += std::log(precision);
  }
  return brevity_penalty() * std::exp(logarithms / kOrders);
}

}  // namespace pagoda
