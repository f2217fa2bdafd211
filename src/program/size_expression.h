#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace pagoda {

/// The sizes that symbols stand for in one call of a program.
using SymbolValues = std::map<std::string, std::int64_t, std::less<>>;

/// The symbol that an expression consists of, as in "Symbol('s17', positive=True, integer=True)".
std::optional<std::string> lone_symbol(std::string_view expression);

/// What an expression of sympy (sums, products, divisions and the like, as `srepr` writes them) is
/// for these symbols; nothing when it is of another kind, names another symbol, or overflows.
std::optional<std::int64_t> value_of(std::string_view expression, const SymbolValues& symbols);

/// The expression for people: "2*s17"; the text itself where it is of another kind.
std::string readable(std::string_view expression);

}  // namespace pagoda
