#include <pagoda/base/error.h>
#include <pagoda/base/number_text.h>
#include <pagoda/base/toml.h>
#include <pagoda/base/utf8.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <tuple>

#include "base/toml_limits.h"

namespace pagoda {
namespace {

/// Where toml++ would go on as if it could not be.
struct UnforeseenText {};
[[noreturn]] void fail_unforeseen() { throw UnforeseenText(); }

}  // namespace
}  // namespace pagoda

// What it takes for granted is checked, and under a name of its own it does not mix with the toml++
// of whoever uses this library.
#undef NDEBUG
#define TOML_ASSERT(expression) ((expression) ? void() : pagoda::fail_unforeseen())
#define toml pagoda_toml
#include <toml++/toml.h>

namespace pagoda {
namespace {

constexpr std::string_view kTomlByteOrderMark = "\xEF\xBB\xBF";
constexpr const char* kWhatValuesAre =
    "a value is text in quotation marks, a number, true or false, or a list of these";

bool begins_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }

/// The text with a question mark for each character beyond ASCII; places stay the same.
std::string in_ascii(std::string_view text) {
  std::string ascii;
  for (const char byte : text) {
    if (begins_character(byte)) ascii += static_cast<unsigned char>(byte) < 0x80 ? byte : '?';
  }
  return ascii;
}

/// What toml++ makes of the text, which is tried in ASCII first: outside of quotation marks and
/// comments, where a question mark is an error too, toml++'s behaviour for other characters is
/// undefined. Which places these are is thus left to toml++ itself.
toml::table parsed(std::string_view text) {
  if (const std::string ascii = in_ascii(text); ascii != text) (void)toml::parse(ascii);
  return toml::parse(text);
}

/// Offsets of a text as lines and columns, which count characters, and back.
class TomlPlaces {
 public:
  TomlPlaces(std::string_view text, const std::string& source) : text_(text), source_(source) {
    for (std::size_t at = 0; at != std::string_view::npos;) {
      line_begins_.push_back(at);
      at = text.find('\n', at);
      if (at != std::string_view::npos) ++at;
    }
  }

  [[noreturn]] void fail(std::size_t line, std::size_t column, const std::string& what) const {
    throw DataError(source_ + ":" + std::to_string(line) + ":" + std::to_string(column) + ": " +
                    what);
  }
  [[noreturn]] void fail(const toml::source_position& at, const std::string& what) const {
    fail(at.line, at.column, what);
  }
  [[noreturn]] void fail(std::size_t offset, const std::string& what) const {
    const auto after = std::upper_bound(line_begins_.begin(), line_begins_.end(), offset);
    const std::size_t begin = *(after - 1);
    std::size_t column = 1;
    for (std::size_t at = begin; at < offset; ++at) column += begins_character(text_[at]) ? 1 : 0;
    fail(static_cast<std::size_t>(after - line_begins_.begin()), column, what);
  }

  /// The line, from 1, with which toml++ first fails to foresee the text.
  std::size_t unforeseen_line() const {
    const auto is_foreseen = [&](const std::size_t& begin) {
      try {
        const std::size_t end = text_.find('\n', begin);
        (void)parsed(text_.substr(0, end == std::string_view::npos ? end : end + 1));
      } catch (const toml::parse_error&) {
      } catch (const UnforeseenText&) {
        return false;
      }
      return true;
    };
    const auto line = std::partition_point(line_begins_.begin(), line_begins_.end(), is_foreseen);
    return static_cast<std::size_t>(line - line_begins_.begin()) + 1;
  }

  std::string_view between(const toml::source_region& region) const {
    const std::size_t begin = offset_of(region.begin);
    const std::size_t end = offset_of(region.end);
    return text_.substr(begin, end - begin);
  }

  /// What stands in a line, as much as a message takes.
  std::string line_text(std::size_t line) const {
    constexpr std::size_t kMost = 60;
    if (line < 1 || line > line_begins_.size()) return "";
    const std::size_t begin = line_begins_[line - 1];
    std::string_view found = text_.substr(begin, text_.find('\n', begin) - begin);
    if (!found.empty() && found.back() == '\r') found.remove_suffix(1);
    if (found.size() <= kMost) return std::string(found);
    std::size_t end = kMost;
    while (end > 0 && !begins_character(found[end])) --end;
    return std::string(found.substr(0, end)) + "…";
  }

 private:
  std::size_t offset_of(const toml::source_position& place) const {
    if (place.line < 1 || place.line > line_begins_.size()) return text_.size();
    std::size_t at = line_begins_[place.line - 1];
    for (std::size_t column = 1; column < place.column && at < text_.size(); ++column)
      at += std::max<std::size_t>(1, utf8_character_length(text_.substr(at)));
    return std::min(at, text_.size());
  }

  const std::string_view text_;
  const std::string& source_;
  std::vector<std::size_t> line_begins_;
};

std::string kind_of(const toml::node& node) {
  return node.is_table() ? "a table" : "a list in a list";
}

std::optional<TomlValue> scalar_of(const toml::node& node) {
  if (const auto* text = node.as_string()) return TomlValue(text->get());
  if (const auto* number = node.as_integer()) return TomlValue(number->get());
  if (const auto* number = node.as_floating_point()) return TomlValue(number->get());
  if (const auto* truth = node.as_boolean()) return TomlValue(truth->get());
  return std::nullopt;
}

TomlValue value_of(const toml::node& node, const std::string& name, const TomlPlaces& places) {
  const auto fail = [&](const toml::node& which) {
    places.fail(which.source().begin, name + " is " + kind_of(which) + "; " + kWhatValuesAre);
  };
  if (auto value = scalar_of(node)) return *std::move(value);
  if (!node.is_array()) fail(node);
  std::vector<TomlValue> list;
  for (const toml::node& element : *node.as_array()) {
    auto value = scalar_of(element);
    if (!value) fail(element);
    list.push_back(*std::move(value));
  }
  return list;
}

TomlEntry entry_of(const toml::key& key, const toml::node& node, const TomlPlaces& places) {
  const auto at = key.source().begin;
  return {.name = std::string(key.str()),
          .value = value_of(node, std::string(key.str()), places),
          .text = std::string(places.between(node.source())),
          .line = at.line,
          .column = at.column};
}

template <class Placed>
void sort_by_place(std::vector<Placed>& found) {
  std::sort(found.begin(), found.end(), [](const Placed& a, const Placed& b) {
    return std::tie(a.line, a.column) < std::tie(b.line, b.column);
  });
}

TomlSection section_of(const toml::key& key, const toml::table& table, const TomlPlaces& places) {
  const auto at = table.source().begin;
  TomlSection section{.name = std::string(key.str()), .line = at.line, .column = at.column};
  for (const auto& [name, node] : table) section.entries.push_back(entry_of(name, node, places));
  sort_by_place(section.entries);
  return section;
}

/// A table in braces is a value, for which there is no place.
bool is_section(const toml::node& node) { return node.is_table() && !node.as_table()->is_inline(); }

TomlFile file_of(const toml::table& table, const TomlPlaces& places) {
  TomlFile file;
  for (const auto& [key, node] : table) {
    const toml::array* list = node.as_array();
    if (is_section(node)) {
      file.sections.push_back(section_of(key, *node.as_table(), places));
    } else if (list != nullptr && !list->empty() && is_section(list->front())) {
      for (const toml::node& each : *list)
        file.sections.push_back(section_of(key, *each.as_table(), places));
    } else {
      file.entries.push_back(entry_of(key, node, places));
    }
  }
  sort_by_place(file.entries);
  sort_by_place(file.sections);
  return file;
}

void check_bytes(std::string_view text, const TomlPlaces& places) {
  if (const auto bad = find_bad_utf8(text)) places.fail(*bad, "this byte is not UTF-8");
  if (const auto zero = text.find('\0'); zero != std::string_view::npos)
    places.fail(zero, "a byte is zero; the file is no text");
  if (const auto problem = find_beyond_limits(text)) places.fail(problem->offset, problem->what);
}

std::string quoted(const std::string& text) {
  if (find_bad_utf8(text))
    throw UsageError("'" + valid_utf8(text) +
                     "' is not UTF-8, which a TOML file must be; choose another name");
  std::string result = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += {'\\', c};
    } else if (c == '\n') {
      result += "\\n";
    } else if (c == '\t') {
      result += "\\t";
    } else if (code < 0x20 || code == 0x7F) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04X", code);
      result += escaped;
    } else {
      result += c;
    }
  }
  return result + "\"";
}

}  // namespace

TomlFile parse_toml(std::string_view text, const std::string& source) {
  if (text.size() > kMostTomlBytes) {
    throw DataError(source + " has more than " + std::to_string(kMostTomlBytes) +
                    " bytes; it is no file of options");
  }
  if (text.starts_with(kTomlByteOrderMark)) text.remove_prefix(kTomlByteOrderMark.size());
  const TomlPlaces places(text, source);
  check_bytes(text, places);
  try {
    return file_of(parsed(text), places);
  } catch (const toml::parse_error& error) {
    const auto at = error.source().begin;
    places.fail(at, "'" + places.line_text(at.line) + "' is not TOML: " +
                        std::string(error.description()) + "; " + kWhatValuesAre);
  } catch (const UnforeseenText&) {
    const std::size_t line = places.unforeseen_line();
    places.fail(line, 1, "'" + places.line_text(line) + "' is not TOML; " + kWhatValuesAre);
  }
}

std::string toml_text(const TomlValue& value) {
  if (const auto* truth = std::get_if<bool>(&value)) return *truth ? "true" : "false";
  if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
  if (const auto* number = std::get_if<double>(&value)) return number_text(*number);
  if (const auto* text = std::get_if<std::string>(&value)) return quoted(*text);
  std::string list;
  for (const TomlValue& each : std::get<std::vector<TomlValue>>(value))
    list += (list.empty() ? "" : ", ") + toml_text(each);
  return "[" + list + "]";
}

std::string toml_place(const std::string& source, const TomlEntry& entry) {
  return source + ":" + std::to_string(entry.line) + ":" + std::to_string(entry.column);
}

}  // namespace pagoda
