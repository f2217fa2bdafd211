#include "program/size_expression.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <vector>

#include "program/whole_numbers.h"

namespace pagoda {
namespace {

/// `Name(argument, …, key=value)`, `Name('text', …)` or `Name(-5)`.
struct Term {
  std::string_view name;
  std::string_view text;  ///< what stands in the brackets where that is no term
  std::vector<Term> parts;
};

constexpr int kMostTerms = 32;  // one inside of the other

class TermParser {
 public:
  explicit TermParser(std::string_view text) : text_(text) {}

  std::optional<Term> parse() {
    auto term = parse_term(0);
    return term && text_.empty() ? term : std::nullopt;
  }

 private:
  std::string_view take_until(std::string_view ends) {
    const std::size_t end = std::min(text_.find_first_of(ends), text_.size());
    const std::string_view taken = text_.substr(0, end);
    text_.remove_prefix(end);
    return taken;
  }

  bool take(char expected) {
    if (text_.empty() || text_.front() != expected) return false;
    text_.remove_prefix(1);
    return true;
  }

  std::optional<Term> parse_term(int depth) {
    if (depth > kMostTerms) return std::nullopt;
    Term term{.name = take_until("(),"), .text = {}, .parts = {}};
    if (!take('(')) return term.name.empty() ? std::nullopt : std::optional(term);
    const bool is_leaf = term.name == "Symbol" || term.name == "Integer";
    if (is_leaf) term.text = take_until(",)");
    while (!take(')')) {
      if (text_.empty()) return std::nullopt;
      take(',');
      take(' ');
      auto part = parse_term(depth + 1);
      if (!part) return std::nullopt;
      if (!is_leaf) term.parts.push_back(std::move(*part));
    }
    return term;
  }

  std::string_view text_;
};

std::string_view symbol_name(const Term& term) {
  std::string_view name = term.text;
  if (name.size() < 2 || name.front() != '\'' || name.back() != '\'') return {};
  return name.substr(1, name.size() - 2);
}

std::optional<std::int64_t> integer_of(const Term& term) {
  std::int64_t number = 0;
  const char* end = term.text.data() + term.text.size();
  const auto parsed = std::from_chars(term.text.data(), end, number);
  return parsed.ec == std::errc() && parsed.ptr == end ? std::optional(number) : std::nullopt;
}

using Step = std::optional<std::int64_t> (*)(std::int64_t, std::int64_t);

Step step_of(std::string_view name) {
  if (const std::size_t dot = name.rfind('.'); dot != std::string_view::npos)
    name.remove_prefix(dot + 1);
  if (name == "Add") return whole_sum;
  if (name == "Mul") return whole_product;
  if (name == "Pow" || name == "PowByNatural") return whole_power;
  if (name == "FloorDiv" || name == "CleanDiv") return floor_quotient;
  if (name == "Mod" || name == "PythonMod") return floor_remainder;
  if (name == "Max")
    return [](std::int64_t a, std::int64_t b) { return std::optional(std::max(a, b)); };
  if (name == "Min")
    return [](std::int64_t a, std::int64_t b) { return std::optional(std::min(a, b)); };
  return nullptr;
}

std::optional<std::int64_t> evaluated(const Term& term, const SymbolValues& symbols) {
  if (term.name == "Integer") return integer_of(term);
  if (term.name == "Symbol") {
    const auto found = symbols.find(symbol_name(term));
    return found != symbols.end() ? std::optional(found->second) : std::nullopt;
  }
  const Step step = step_of(term.name);
  if (step == nullptr || term.parts.empty()) return std::nullopt;
  std::optional<std::int64_t> total = evaluated(term.parts.front(), symbols);
  for (std::size_t i = 1; total && i < term.parts.size(); ++i) {
    const auto next = evaluated(term.parts[i], symbols);
    total = next ? step(*total, *next) : std::nullopt;
  }
  return total;
}

std::string written(const Term& term) {
  if (term.name == "Integer") return std::string(term.text);
  if (term.name == "Symbol") return std::string(symbol_name(term));
  const char* sign = term.name == "Add" ? " + " : term.name == "Mul" ? "*" : ", ";
  std::string text;
  for (const Term& part : term.parts) text += (text.empty() ? "" : sign) + written(part);
  if (term.name == "Mul") return text;
  return term.name == "Add" ? "(" + text + ")" : std::string(term.name) + "(" + text + ")";
}

}  // namespace

std::optional<std::string> lone_symbol(std::string_view expression) {
  const auto term = TermParser(expression).parse();
  if (!term || term->name != "Symbol" || symbol_name(*term).empty()) return std::nullopt;
  return std::string(symbol_name(*term));
}

std::optional<std::int64_t> value_of(std::string_view expression, const SymbolValues& symbols) {
  const auto term = TermParser(expression).parse();
  return term ? evaluated(*term, symbols) : std::nullopt;
}

std::string readable(std::string_view expression) {
  const auto term = TermParser(expression).parse();
  return term ? written(*term) : std::string(expression);
}

}  // namespace pagoda
