#include <pagoda/base/atomic_file.h>
#include <pagoda/base/error.h>
#include <pagoda/base/whole_file.h>
#include <pagoda/train/run_directory.h>

#include <charconv>
#include <cstdio>
#include <map>
#include <sstream>

#include "base/directory_lock.h"

namespace pagoda {
namespace {

constexpr const char* kConfig = "config.toml";
constexpr const char* kLog = "train.log";
constexpr const char* kMetrics = "metrics.tsv";

void write_text(const std::filesystem::path& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

/// Makes the directory, so that it can be locked. What is in it is looked at once it is.
std::filesystem::path made(std::filesystem::path path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) throw IoError("cannot create directory " + path.string() + ": " + error.message());
  return path;
}

bool is_empty_run(const std::filesystem::path& path) {
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    if (entry.path().filename() != ".lock") return false;
  }
  return true;
}

std::map<std::string, std::string> entries_of(const std::string& config) {
  std::map<std::string, std::string> entries;
  std::istringstream lines(config);
  for (std::string line; std::getline(lines, line);) {
    if (const auto at = line.find(" = "); at != std::string::npos)
      entries[line.substr(0, at)] = line.substr(at + 3);
  }
  return entries;
}

void remove_run(const std::filesystem::path& path) {
  for (const char* name : {kConfig, kLog, kMetrics, "checkpoints", "events", "vocabulary"}) {
    std::filesystem::remove_all(path / name);
  }
}

void check_same_config(const std::filesystem::path& path, const std::string& config) {
  const std::string list = config_differences(read_whole_file(path / kConfig), config);
  if (!list.empty()) {
    throw UsageError(path.string() + " holds a run with another configuration (" + list +
                     "); use the same, another directory, or overwrite it");
  }
}

}  // namespace

std::string config_differences(const std::string& before, const std::string& now) {
  const auto old_entries = entries_of(before);
  const auto new_entries = entries_of(now);
  std::string list;
  const auto add = [&](const std::string& line) { list += (list.empty() ? "" : "; ") + line; };
  for (const auto& [name, value] : old_entries) {
    const auto found = new_entries.find(name);
    const std::string other = found == new_entries.end() ? "unset" : found->second;
    if (other != value) add(name + ": " + value + ", now " + other);
  }
  for (const auto& [name, value] : new_entries) {
    if (!old_entries.contains(name)) add(name + ": unset, now " + value);
  }
  return list;
}

RunDirectory::RunDirectory(std::filesystem::path path, Existing existing, const std::string& config)
    : path_(made(std::move(path))), lock_(std::make_unique<DirectoryLock>(path_)) {
  const bool has_run = std::filesystem::exists(path_ / kConfig);
  if (!has_run && !is_empty_run(path_)) {
    throw UsageError(path_.string() + " is not empty and holds no run; choose another directory");
  }
  if (has_run && existing == Existing::overwrite) remove_run(path_);
  if (has_run && existing == Existing::resume) {
    check_same_config(path_, config);
  } else {
    write_text(path_ / kConfig, config);
  }
  log_.open(path_ / kLog, std::ios::app);
  metrics_.open(path_ / kMetrics, std::ios::app);
  if (!log_ || !metrics_)
    throw IoError("cannot write " + (path_ / kLog).string() + " and " + kMetrics);
}

RunDirectory::~RunDirectory() = default;

void RunDirectory::begin_at(std::int64_t step) {
  metrics_.close();
  std::istringstream lines(read_whole_file(path_ / kMetrics));
  std::string kept = "step\tname\tvalue\n";
  std::string line;
  while (std::getline(lines, line)) {
    std::int64_t line_step = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), line_step);
    if (error == std::errc{} && *end == '\t' && line_step <= step && !lines.eof())
      kept += line + "\n";
  }
  write_text(path_ / kMetrics, kept);
  metrics_.open(path_ / kMetrics, std::ios::app);
}

void RunDirectory::log(std::string_view line) { log_ << line << '\n'; }

void RunDirectory::metric(std::int64_t step, std::string_view name, double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  metrics_ << step << '\t' << name << '\t' << text << '\n';
}

void RunDirectory::flush() {
  log_.flush();
  metrics_.flush();
  if (!log_ || !metrics_)
    throw IoError("cannot write the log in " + path_.string() + "; is the disk full?");
}

}  // namespace pagoda
