#include "cli/option_values.h"

#include <pagoda/base/error.h>
#include <pagoda/base/number_text.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace pagoda {
namespace {

enum class OptionKind { flag, whole, unsigned_whole, number, text };

OptionKind kind_of(const CLI::Option& option) {
  if (option.get_expected_max() == 0) return OptionKind::flag;
  const std::string name = option.get_type_name();  // "TYPE:what it is checked for"
  const std::string type = name.substr(0, name.find(':'));
  if (type == "INT") return OptionKind::whole;
  if (type == "UINT") return OptionKind::unsigned_whole;
  return type == "FLOAT" ? OptionKind::number : OptionKind::text;
}

const char* expected(OptionKind kind) {
  switch (kind) {
    case OptionKind::flag:
      return "true or false";
    case OptionKind::whole:
    case OptionKind::unsigned_whole:
      return "a whole number";
    case OptionKind::number:
      return "a finite number";
    case OptionKind::text:
      return "text in quotation marks";
  }
  return "";
}

bool is_digits(const std::string& text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// TOML's whole numbers end before those of 64 bits without a sign do; the rest is text.
TomlValue unsigned_value(std::uint64_t number) {
  if (number <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    return static_cast<std::int64_t>(number);
  return std::to_string(number);
}

TomlValue text_value(const CLI::Option& option) {
  const auto& given = option.results();
  if (given.empty()) return option.get_default_str();
  if (given.size() == 1) return given.front();
  return std::vector<TomlValue>(given.begin(), given.end());
}

/// One value as a word; nothing if it is of another type.
std::optional<std::string> word_of(OptionKind kind, const TomlValue& value) {
  const auto* text = std::get_if<std::string>(&value);
  const auto* whole = std::get_if<std::int64_t>(&value);
  const auto* number = std::get_if<double>(&value);
  const auto* truth = std::get_if<bool>(&value);
  switch (kind) {
    case OptionKind::flag:
      if (truth != nullptr) return *truth ? "true" : "false";
      break;
    case OptionKind::unsigned_whole:
      if (text != nullptr && is_digits(*text)) return *text;
      [[fallthrough]];
    case OptionKind::whole:
      if (whole != nullptr) return std::to_string(*whole);
      break;
    case OptionKind::number:
      if (whole != nullptr) return std::to_string(*whole);
      if (number != nullptr && std::isfinite(*number)) return number_text(*number);
      break;
    case OptionKind::text:
      if (text != nullptr) return *text;
      if (whole != nullptr) return std::to_string(*whole);
      break;
  }
  return std::nullopt;
}

}  // namespace

std::optional<TomlValue> option_value(const CLI::Option& option) {
  const OptionKind kind = kind_of(option);
  if (kind == OptionKind::flag) return option.count() > 0 && option.as<bool>();
  if (option.count() == 0 && option.get_default_str().empty()) return std::nullopt;
  if (kind == OptionKind::whole) return option.as<std::int64_t>();
  if (kind == OptionKind::unsigned_whole) return unsigned_value(option.as<std::uint64_t>());
  if (kind == OptionKind::number) return option.as<double>();
  return text_value(option);
}

std::optional<TomlValue> option_default(const CLI::Option& option) {
  const OptionKind kind = kind_of(option);
  const std::string text = option.get_default_str();
  if (kind == OptionKind::flag) return false;
  if (text.empty()) return std::nullopt;
  if (kind == OptionKind::whole) return std::int64_t{std::stoll(text)};
  if (kind == OptionKind::unsigned_whole) return unsigned_value(std::stoull(text));
  if (kind == OptionKind::number) return std::stod(text);
  return text;
}

std::vector<std::string> option_words(const CLI::Option& option, const TomlEntry& entry,
                                      TypeCheck check) {
  const OptionKind kind = kind_of(option);
  const auto* list = std::get_if<std::vector<TomlValue>>(&entry.value);
  if (list != nullptr && option.get_items_expected_max() <= 1)
    throw UsageError(entry.name + " takes one value, not a list");
  if (list != nullptr && list->empty())
    throw UsageError(entry.name + " is an empty list; leave it out, or give a value");
  std::vector<std::string> words;
  for (const TomlValue& value : list != nullptr ? *list : std::vector<TomlValue>{entry.value}) {
    const std::string written = list != nullptr ? toml_text(value) : entry.text;
    auto word = word_of(kind, value);
    if (!word && check == TypeCheck::by_looks && kind != OptionKind::flag) word = written;
    if (!word) throw UsageError(entry.name + " must be " + expected(kind) + ", not " + written);
    words.push_back(*std::move(word));
  }
  return words;
}

}  // namespace pagoda
