#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace pagoda {

/// A value of a TOML file (toml.io): true or false, an integer, a floating-point number, text, or a
/// list of these that contains no further list.
struct TomlValue : std::variant<bool, std::int64_t, double, std::string, std::vector<TomlValue>> {
  using variant::variant;
};

/// `name = value`, and its place in the text.
struct TomlEntry {
  std::string name;        ///< the key, before the equals sign
  TomlValue value;         ///< what it is set to
  std::string text = {};   ///< the value as written in the file
  std::size_t line = 0;    ///< its line in the text, from 1
  std::size_t column = 0;  ///< its column in the line, from 1
};

/// The entries under `[name]`, or under one of several `[[name]]`.
struct TomlSection {
  std::string name;                     ///< the name in the brackets
  std::vector<TomlEntry> entries = {};  ///< in order
  std::size_t line = 0;                 ///< its line in the text, from 1
  std::size_t column = 0;               ///< its column in the line, from 1
};

/// A file: entries, and sections of entries, in order.
struct TomlFile {
  std::vector<TomlEntry> entries = {};     ///< those before the first section
  std::vector<TomlSection> sections = {};  ///< in order
};

/// The longest text that parse_toml accepts, in bytes.
inline constexpr std::size_t kMostTomlBytes = 16 << 20;

/// Parses TOML text; `source` names it in messages.
///
/// Fails: DataError as "SOURCE:LINE:COLUMN: …" for text that is not TOML (including duplicate names,
/// for which all characters beyond ASCII are the same, and bytes that are not UTF-8), for what TomlFile cannot hold (dates, nested lists, nested
/// sections), and for text that is nested too deeply; as "SOURCE …" for text longer than
/// kMostTomlBytes.
/// Example:
///     for (const TomlEntry& entry : parse_toml(text, "my.toml").entries) use(entry);
TomlFile parse_toml(std::string_view text, const std::string& source);

/// The value as TOML text. parse_toml reads the same value back, except that a double with an
/// integral value is written without a decimal point and comes back as an integer.
/// Fails: UsageError for text that is not UTF-8, which TOML cannot hold.
std::string toml_text(const TomlValue& value);

/// Where the entry is, as "SOURCE:LINE:COLUMN", for messages.
std::string toml_place(const std::string& source, const TomlEntry& entry);

}  // namespace pagoda
