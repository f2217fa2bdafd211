#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace pagoda {

/// A value of a JSON text (RFC 8259): a tree whose depth is bounded.
///
/// Example:
///     const JsonValue header = parse_json(text, "model.json");
///     if (const JsonValue* version = header.find("version")) use(version->as<std::int64_t>());
struct JsonValue {
  struct Member;

  using Null = std::monostate;          ///< null
  using List = std::vector<JsonValue>;  ///< in its order
  using Object = std::vector<Member>;   ///< sorted by name, each name once

  /// A number is a whole one where it is written without point and exponent and fits.
  std::variant<Null, bool, std::int64_t, double, std::string, List, Object> content;

  /// Null when it is of another kind.
  template <class Kind>
  const Kind* as() const {
    return std::get_if<Kind>(&content);
  }

  /// The member of an object; null when there is none of that name, or this is no object.
  const JsonValue* find(std::string_view name) const;

  /// "text", "a whole number", …: for messages.
  const char* kind() const;
};

/// A name and its value.
struct JsonValue::Member {
  std::string name;  ///< without quotes and escapes
  JsonValue value;   ///< what stands behind it
};

/// The deepest that lists and objects may be nested.
inline constexpr std::size_t kMostJsonNesting = 256;

/// Reads a JSON text that may come from anywhere; `source` says in messages where.
///
/// Fails: DataError as "SOURCE: … at byte N …" for what is not JSON (among it bytes that are not
/// UTF-8, and anything behind the value), for an object that has a name twice, and for a text that
/// is nested deeper than kMostJsonNesting.
JsonValue parse_json(std::string_view text, const std::string& source);

}  // namespace pagoda
