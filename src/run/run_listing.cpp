#include <pagoda/base/error.h>
#include <pagoda/base/whole_file.h>
#include <pagoda/run/run_listing.h>
#include <pagoda/train/run_config.h>
#include <pagoda/train/run_directory.h>
#include <pagoda/train/run_metrics.h>

#include <algorithm>

#include "run/run_log_lines.h"

namespace pagoda {
namespace {

std::string model_of(const std::filesystem::path& run) {
  const std::filesystem::path file = run / "config.toml";
  for (const TomlEntry& entry : run_config_entries(read_whole_file(file), file.string())) {
    const auto* text = std::get_if<std::string>(&entry.value);
    if (entry.name == "model" && text != nullptr) return *text;
  }
  return "unknown";
}

LogFacts facts_of(const std::filesystem::path& run) {
  return log_facts(read_file_if_any(run / "train.log").value_or(""));
}

}  // namespace

const char* stage_name(RunStage stage) {
  return stage == RunStage::running    ? "running"
         : stage == RunStage::finished ? "finished"
                                       : "stopped";
}

RunListing list_run(const std::filesystem::path& path) {
  const LogFacts facts = facts_of(path);
  RunListing run{
      .path = path, .model = model_of(path), .best = facts.best, .best_step = facts.best_step};
  for (const RunMetric& metric : read_run_metrics(path)) run.step = std::max(run.step, metric.step);
  // A run that was lengthened and then killed has steps after its last end.
  if (is_running(path)) {
    run.stage = RunStage::running;
  } else if (is_done(facts.end) && facts.end_step >= run.step) {
    run.stage = RunStage::finished;
  }
  return run;
}

std::vector<std::filesystem::path> find_runs(const std::filesystem::path& directory) {
  namespace fs = std::filesystem;
  std::error_code failed;
  if (!fs::is_directory(directory, failed))
    throw UsageError("there is no directory " + directory.string());
  if (holds_run(directory)) return {directory};
  std::vector<fs::path> runs;
  fs::recursive_directory_iterator entry(directory, fs::directory_options::skip_permission_denied,
                                         failed);
  for (; !failed && entry != fs::recursive_directory_iterator(); entry.increment(failed)) {
    std::error_code none;
    if (!entry->is_directory(none) || !holds_run(entry->path(), none)) continue;
    runs.push_back(entry->path());
    entry.disable_recursion_pending();
  }
  std::sort(runs.begin(), runs.end());
  return runs;
}

}  // namespace pagoda
