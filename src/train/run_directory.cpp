#include <pagoda/base/atomic_file.h>
#include <pagoda/base/error.h>
#include <pagoda/base/whole_file.h>
#include <pagoda/train/run_config.h>
#include <pagoda/train/run_directory.h>
#include <pagoda/train/run_metrics.h>

#include "base/append_file.h"
#include "base/descriptor.h"
#include "base/directory_lock.h"

namespace pagoda {
namespace {

constexpr const char* kConfig = "config.toml";
constexpr const char* kLog = "train.log";
constexpr const char* kMetrics = "metrics.tsv";
constexpr const char* kHeader = "step\tname\tvalue\n";
constexpr const char* kOverwriting = ".overwriting";
constexpr const char* kDirectories[] = {"checkpoints", "events", "vocabulary", "vocabulary.tmp"};

/// Makes the directory, so that it can be locked. What is in it is looked at once it is.
std::filesystem::path made(std::filesystem::path path) {
  make_directories(path);
  return path;
}

bool is_empty_run(const std::filesystem::path& path) {
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    if (const auto name = entry.path().filename(); name != ".lock" && name != kOverwriting)
      return false;
  }
  return true;
}

void remove_tree(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::remove_all(path, error);
  if (error) throw IoError("cannot remove " + path.string() + ": " + error.message());
}

/// Until the next configuration is there, a mark tells that what remains is to be removed.
void remove_run(const std::filesystem::path& path) {
  write_whole_file(path / kOverwriting, "");
  for (const char* name : kDirectories) remove_tree(path / name);
  for (const auto& file : {path / kLog, path / kMetrics, data_record_file(path), path / kConfig})
    remove_tree(file);
}

void begin_run(const std::filesystem::path& path, const std::string& config) {
  write_whole_file(path / kConfig, config);
  if (!std::filesystem::exists(path / kOverwriting)) return;
  remove_tree(path / kOverwriting);
  sync_directory(path);  // if it came back with a power cut, it would take the new run with it
}

void remove_abandoned(const std::filesystem::path& path) {
  remove_abandoned_files(path);
  for (const char* name : kDirectories) remove_abandoned_files(path / name);
}

void check_same_config(const std::filesystem::path& path, const std::string& config,
                       const ConfigRules& rules) {
  std::string list;
  try {
    list = config_differences(read_whole_file(path / kConfig), config, rules);
  } catch (const DataError& error) {
    throw DataError((path / kConfig).string() + " is damaged (" + error.what() +
                    "); restore it, take another directory, or overwrite it");
  }
  if (!list.empty()) {
    throw UsageError(path.string() + " holds a run with another configuration (" + list +
                     "); use the same, another directory, or overwrite it");
  }
}

}  // namespace

RunDirectory::RunDirectory(std::filesystem::path path, Existing existing, const std::string& config,
                           const ConfigRules& rules)
    : path_(made(std::move(path))), lock_(std::make_unique<DirectoryLock>(path_)) {
  remove_abandoned(path_);
  const bool is_cut_off = std::filesystem::exists(path_ / kOverwriting);
  const bool has_run = std::filesystem::exists(path_ / kConfig);
  if (!has_run && !is_cut_off && !is_empty_run(path_)) {
    throw UsageError(path_.string() + " is not empty and holds no run; choose another directory");
  }
  if (is_cut_off || (has_run && existing == Existing::overwrite)) remove_run(path_);
  if (std::filesystem::exists(path_ / kConfig)) {
    check_same_config(path_, config, rules);
  } else {
    begin_run(path_, config);
  }
  log_ = std::make_unique<AppendFile>(path_ / kLog);
  metrics_ = std::make_unique<AppendFile>(path_ / kMetrics);
}

RunDirectory::~RunDirectory() = default;

void RunDirectory::check_data(const DataRecord& now) const {
  const auto before = read_data_record(path_);
  const std::string list = before ? data_differences(*before, now) : "";
  if (!list.empty()) {
    throw DataError(path_.string() + " holds a run that is trained on other data (" + list +
                    "); restore what has changed, take another directory, or overwrite it");
  }
}

bool RunDirectory::keep_data(const DataRecord& now) const {
  if (std::filesystem::exists(data_record_file(path_))) return false;
  write_data_record(path_, now);
  return true;
}

void RunDirectory::begin_at(std::int64_t step) {
  metrics_.reset();
  last_metrics_.clear();
  std::string kept = kHeader;
  for (const RunMetric& metric : read_run_metrics(path_)) {
    if (metric.step > step) continue;
    kept += metric.line() + "\n";
    if (metric.step == step) last_metrics_.insert(metric.name);
  }
  write_whole_file(path_ / kMetrics, kept);
  metrics_ = std::make_unique<AppendFile>(path_ / kMetrics);
}

void RunDirectory::log(std::string_view line) { log_->append(std::string(line) + "\n"); }

void RunDirectory::metric(std::int64_t step, std::string_view name, double value) {
  metrics_->append(RunMetric{.step = step, .name = std::string(name), .value = value}.line() +
                   "\n");
}

void RunDirectory::flush() {
  log_->flush();
  metrics_->flush();
}

void RunDirectory::sync() const { metrics_->sync(); }

bool is_running(const std::filesystem::path& path) { return is_locked(path); }

bool holds_run(const std::filesystem::path& path) {
  return std::filesystem::exists(path / kConfig) && !std::filesystem::exists(path / kOverwriting);
}

bool holds_run(const std::filesystem::path& path, std::error_code& error) {
  return std::filesystem::exists(path / kConfig, error) &&
         !std::filesystem::exists(path / kOverwriting, error);
}

}  // namespace pagoda
