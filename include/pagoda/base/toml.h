#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace pagoda {

/// A value of a TOML file (toml.io): true or false, a whole number, a number, text, or a list of
/// these that holds no further list.
struct TomlValue : std::variant<bool, std::int64_t, double, std::string, std::vector<TomlValue>> {
  using variant::variant;
};

/// `name = value`, and where it stands, counted from 1.
struct TomlEntry {
  std::string name;        ///< the key, before the equals sign
  TomlValue value;         ///< what it is set to
  std::string text = {};   ///< the value as it is written in the file
  std::size_t line = 0;    ///< where it stands in the text, from 1
  std::size_t column = 0;  ///< where it stands in the line, from 1
};

/// The entries below `[name]`, or below one of several `[[name]]`.
struct TomlSection {
  std::string name;                     ///< in the brackets
  std::vector<TomlEntry> entries = {};  ///< in their order
  std::size_t line = 0;                 ///< where it stands in the text, from 1
  std::size_t column = 0;               ///< where it stands in the line, from 1
};

/// A file: entries, and sections of entries, in their order.
struct TomlFile {
  std::vector<TomlEntry> entries = {};     ///< what stands before the first section
  std::vector<TomlSection> sections = {};  ///< in their order
};

/// The longest text that is read, in bytes.
inline constexpr std::size_t kMostTomlBytes = 16 << 20;

/// Reads a TOML text; `source` says in messages where it came from.
///
/// Fails: DataError as "SOURCE:LINE:COLUMN: …" for what is not TOML (among it names that stand
/// twice and bytes that are not UTF-8), for what TomlFile cannot hold (dates, lists in lists,
/// sections in sections), and for a text that is longer than kMostTomlBytes or deeply nested.
/// Example:
///     for (const TomlEntry& entry : parse_toml(text, "my.toml").entries) use(entry);
TomlFile parse_toml(std::string_view text, const std::string& source);

/// The value as TOML. What parse_toml makes of it is the same value, a whole number of type double
/// excepted, which is written without a point. Fails: UsageError for text that is not UTF-8, which
/// TOML cannot hold.
std::string toml_text(const TomlValue& value);

/// "SOURCE:LINE:COLUMN", for messages.
std::string toml_place(const std::string& source, const TomlEntry& entry);

}  // namespace pagoda
