#include <pagoda/base/whole_file.h>
#include <pagoda/train/run_directory.h>

#include <charconv>

#include "fuzz/fuzz_target.h"

namespace pagoda::fuzz {
namespace run_directory_fuzz {

constexpr std::string_view kHeader = "step\tname\tvalue\n";

std::string metrics_after(RunDirectory& run, std::int64_t step) {
  run.begin_at(step);
  const std::string metrics = read_whole_file(run.path() / "metrics.tsv");
  require(metrics.starts_with(kHeader), "metrics.tsv does not begin with its header");
  require(metrics.ends_with('\n'), "metrics.tsv ends within a line");
  for (std::size_t begin = kHeader.size(); begin < metrics.size();) {
    const std::size_t end = metrics.find('\n', begin);
    std::int64_t number = 0;
    const auto error = std::from_chars(metrics.data() + begin, metrics.data() + end, number).ec;
    require(error == std::errc{} && number <= step, "a number of a later step was kept");
    begin = end + 1;
  }
  return metrics;
}

/// The step of a checkpoint, the configuration of this start, config.toml and metrics.tsv of the
/// run that it resumes.
std::string read(std::string_view bytes) {
  const auto parts = parts_of(bytes, 4);
  std::int64_t step = 0;
  std::from_chars(parts[0].data(), parts[0].data() + parts[0].size(), step);
  const auto path = input_file("", "mark").parent_path() / "run";
  std::filesystem::create_directories(path);
  std::filesystem::remove(path / "config.toml");
  if (!parts[2].empty()) input_file(parts[2], "run/config.toml");
  input_file(parts[3], "run/metrics.tsv");
  RunDirectory run(path, Existing::resume, std::string(parts[1]));
  const std::string metrics = metrics_after(run, step);
  require(metrics_after(run, step) == metrics, "resuming twice changes metrics.tsv");
  run.log(parts[1]);
  run.metric(step, "loss", 0.5);
  run.flush();
  run.sync();
  require(metrics_after(run, step).starts_with(metrics), "a new number replaces old ones");
  require(run.has_metric("loss"), "a number of the last step is not known");
  return metrics;
}

const Registration registration{{"run_directory", &read}};

}  // namespace run_directory_fuzz
}  // namespace pagoda::fuzz
