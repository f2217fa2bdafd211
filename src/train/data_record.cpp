#include <pagoda/base/atomic_file.h>
#include <pagoda/base/error.h>
#include <pagoda/base/grouped_number.h>
#include <pagoda/base/toml.h>
#include <pagoda/base/utf8.h>
#include <pagoda/base/whole_file.h>
#include <pagoda/train/data_record.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <utility>

namespace pagoda {
namespace {

constexpr std::int64_t kDataFormat = 1;
constexpr const char* kDataFormatName = "format";
constexpr const char* kInputSection = "input";
constexpr std::size_t kMostDifferences = 3;

std::string crc_text(std::uint32_t crc32) {
  char digits[16];
  std::snprintf(digits, sizeof digits, "%08x", crc32);
  return digits;
}

std::string record_text(const DataRecord& record) {
  std::string text = "# What this run is trained on: it is not resumed with anything else.\n";
  text += std::string(kDataFormatName) + " = " + std::to_string(kDataFormat) + "\n";
  for (const auto& [name, count] : record.counts) text += name + " = " + toml_text(count) + "\n";
  for (const DataInput& input : record.inputs) {
    text += std::string("\n[[") + kInputSection + "]]\nrole = " + toml_text(input.role) +
            "\nname = " + toml_text(valid_utf8(input.name)) +
            "\nbytes = " + toml_text(input.bytes) +
            "\ncrc32 = " + toml_text(crc_text(input.crc32)) + "\n";
  }
  return text;
}

[[noreturn]] void fail_at(const std::string& source, const TomlEntry& entry,
                          const std::string& what) {
  throw DataError(toml_place(source, entry) + ": " + entry.name + " = " + entry.text + " is not " +
                  what);
}

template <class T>
const T& value_as(const TomlEntry& entry, const char* what, const std::string& source) {
  const auto* value = std::get_if<T>(&entry.value);
  if (value == nullptr) fail_at(source, entry, what);
  return *value;
}

std::uint32_t crc_of(const TomlEntry& entry, const std::string& source) {
  constexpr const char* kWhat = "eight hexadecimal digits in quotation marks";
  const auto& digits = value_as<std::string>(entry, kWhat, source);
  std::uint32_t crc32 = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, crc32, 16);
  if (error != std::errc{} || stop != end || digits.size() != 8) fail_at(source, entry, kWhat);
  return crc32;
}

DataInput input_in(const TomlSection& section, const std::string& source) {
  DataInput input;
  for (const TomlEntry& entry : section.entries) {
    if (entry.name == "role") input.role = value_as<std::string>(entry, "text", source);
    if (entry.name == "name") input.name = value_as<std::string>(entry, "text", source);
    if (entry.name == "bytes") input.bytes = value_as<std::int64_t>(entry, "a number", source);
    if (entry.name == "crc32") input.crc32 = crc_of(entry, source);
  }
  return input;
}

DataRecord record_in(const std::string& text, const std::string& source) {
  const TomlFile file = parse_toml(text, source);
  DataRecord record;
  bool has_format = false;
  for (const TomlEntry& entry : file.entries) {
    const std::int64_t number = value_as<std::int64_t>(entry, "a whole number", source);
    if (entry.name != kDataFormatName) {
      record.counts[entry.name] = number;
      continue;
    }
    has_format = true;
    if (number != kDataFormat)
      throw DataError(source + " has the format " + std::to_string(number) +
                      "; this program reads " + std::to_string(kDataFormat));
  }
  if (!has_format) throw DataError(source + " has no entry 'format'");
  for (const TomlSection& section : file.sections) {
    if (section.name == kInputSection) record.inputs.push_back(input_in(section, source));
  }
  return record;
}

std::string counted_text(const std::optional<std::int64_t>& count) {
  return count ? grouped(static_cast<double>(*count)) : "none";
}

/// What differs between two records, one text each.
class Differences {
 public:
  void add(const std::string& name, const std::string& before, const std::string& now) {
    if (before != now) list_.push_back(name + ": " + before + "; now " + now);
  }

  std::string text() const {
    std::string text;
    for (std::size_t i = 0; i < list_.size() && i < kMostDifferences; ++i)
      text += (i > 0 ? "; " : "") + list_[i];
    if (list_.size() > kMostDifferences)
      text += "; and " + std::to_string(list_.size() - kMostDifferences) + " more";
    return text;
  }

 private:
  std::vector<std::string> list_;
};

void add_inputs(const DataRecord& before, const DataRecord& now, Differences& differences) {
  std::map<std::string, std::pair<std::vector<DataInput>, std::vector<DataInput>>> roles;
  for (const DataInput& input : before.inputs) roles[input.role].first.push_back(input);
  for (const DataInput& input : now.inputs) roles[input.role].second.push_back(input);
  for (const auto& [role, both] : roles) {
    const auto& [old_inputs, new_inputs] = both;
    for (std::size_t i = 0; i < std::max(old_inputs.size(), new_inputs.size()); ++i) {
      const DataInput* was = i < old_inputs.size() ? &old_inputs[i] : nullptr;
      const DataInput* is = i < new_inputs.size() ? &new_inputs[i] : nullptr;
      differences.add((is != nullptr ? is : was)->name + " (" + role + ")",
                      was != nullptr ? was->content_text() : "nothing",
                      is != nullptr ? is->content_text() : "nothing");
    }
  }
}

}  // namespace

void DataRecord::add(const std::string& role, std::vector<DataInput> more) {
  for (DataInput& input : more) {
    input.role = role;
    inputs.push_back(std::move(input));
  }
}

std::vector<DataInput> DataRecord::of_role(const std::string& role) const {
  std::vector<DataInput> found;
  for (const DataInput& input : inputs) {
    if (input.role == role) found.push_back(input);
  }
  return found;
}

std::filesystem::path data_record_file(const std::filesystem::path& run) {
  return run / "data.toml";
}

void write_data_record(const std::filesystem::path& run, const DataRecord& record) {
  write_whole_file(data_record_file(run), record_text(record));
}

std::optional<DataRecord> read_data_record(const std::filesystem::path& run) {
  const auto file = data_record_file(run);
  if (!std::filesystem::exists(file)) return std::nullopt;
  try {
    return record_in(read_file_start(file, kMostTomlBytes + 1), file.string());
  } catch (const DataError& error) {
    throw DataError(std::string(error.what()) +
                    "; restore the file, or remove it to have it made anew");
  }
}

std::string data_differences(const DataRecord& before, const DataRecord& now) {
  Differences differences;
  add_inputs(before, now, differences);
  std::map<std::string, std::pair<std::optional<std::int64_t>, std::optional<std::int64_t>>> counts;
  for (const auto& [name, count] : before.counts) counts[name].first = count;
  for (const auto& [name, count] : now.counts) counts[name].second = count;
  for (const auto& [name, both] : counts)
    differences.add(name, counted_text(both.first), counted_text(both.second));
  return differences.text();
}

}  // namespace pagoda
