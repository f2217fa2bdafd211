#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace pagoda {

/// A value of a JSON text (RFC 8259): a tree of bounded depth.
///
/// Example:
///     const JsonValue header = parse_json(text, "model.json");
///     if (const JsonValue* version = header.find("version")) use(version->as<std::int64_t>());
struct JsonValue {
  struct Member;

  using Null = std::monostate;          ///< null
  using List = std::vector<JsonValue>;  ///< in order
  using Object = std::vector<Member>;   ///< sorted by name, each name once

  /// A number is a std::int64_t if it is written without a decimal point or exponent and fits,
  /// otherwise a double.
  std::variant<Null, bool, std::int64_t, double, std::string, List, Object> content;

  /// The content as this kind; null if it is of another kind.
  template <class Kind>
  const Kind* as() const {
    return std::get_if<Kind>(&content);
  }

  /// The value of the member with this name; null if there is none, or if this is not an object.
  const JsonValue* find(std::string_view name) const;

  /// "text", "a whole number", …: for messages.
  const char* kind() const;
};

/// A name and its value.
struct JsonValue::Member {
  std::string name;  ///< without quotes and escapes
  JsonValue value;   ///< the member's value
};

/// How deeply lists and objects may be nested.
inline constexpr std::size_t kMostJsonNesting = 256;

/// Parses JSON text from any source, trusted or not; `source` names it in messages.
///
/// Fails: DataError as "SOURCE: …" for text that is not JSON (with the byte offset; this includes
/// bytes that are not UTF-8, and anything after the value), for an object with a duplicate name,
/// and for text nested deeper than kMostJsonNesting.
JsonValue parse_json(std::string_view text, const std::string& source);

}  // namespace pagoda
