#include "run/run_announcements.h"

#include <pagoda/base/byte_size.h>
#include <pagoda/base/grouped_number.h>
#include <pagoda/base/version.h>
#include <pagoda/terminal/text_table.h>

#include <algorithm>

namespace pagoda {

std::string start_line(const std::vector<Device>& devices, const std::string& command_line) {
  std::string labels;
  for (const Device& device : devices) labels += (labels.empty() ? "" : ", ") + device.label();
  return "Pagoda " + std::string(version()) + ", LibTorch " + libtorch_version() + " on " + labels +
         (command_line.empty() ? "" : ": " + command_line);
}

std::string resumed_line(const RunState& state) {
  return "resumed after step " + std::to_string(state.step) + ", " +
         counted(state.position.consumed, "sample") + " into epoch " +
         std::to_string(state.position.epoch + 1);
}

std::string changed_towers_line(std::int64_t before, int now) {
  return "the run had " + counted(before, "tower") + ", now it has " + std::to_string(now) +
         ": from here on a step has another number of samples";
}

std::string plan_line(const RunOptions& options, const detail::RunParts& parts,
                      std::int64_t steps_per_epoch, std::int64_t last_step) {
  const std::string precision = options.precision == Precision::fp32
                                    ? ""
                                    : std::string(precision_name(options.precision)) + ", ";
  return parts.task.name() + " on " + counted(parts.share.total, "tower") + ", " +
         placement_name(parts.towers.replicas()->placement()) + " parameters, " +
         (options.update == UpdateKind::async ? "async" : "sync") + " updates, " + precision +
         parts.source.about + ", " + counted(steps_per_epoch, "step") + " an epoch, until step " +
         std::to_string(last_step);
}

std::string process_line(const World& world) {
  return counted(world.size(), "process") + "; this is " + world.name(0) + " at " + world.address();
}

std::vector<std::string> warnings_alone(const RunOptions& options, const Replicas& replicas) {
  std::vector<std::string> warnings;
  const bool cards_sum =
      !share_memory(replicas.devices()) && replicas.placement() != ParameterPlacement::host;
  if (options.local_steps.every > 1 || options.local_steps.overlap > 0)
    warnings.emplace_back("--sync-every and --sync-overlap mean nothing to a single process");
  if (options.wire != WireType::fp32 && !cards_sum) {
    warnings.emplace_back(
        "--wire means nothing to a single process but for cards with mirrored or spread "
        "parameters");
  }
  return warnings;
}

std::string traffic_line(const WorldTraffic& before, const WorldTraffic& after, double seconds) {
  const double waited = after.seconds - before.seconds;
  return "exchanges with other processes: " + bytes_text(after.bytes - before.bytes) + " sent, " +
         grouped(waited, 1) + " s waited (" + grouped(100 * waited / std::max(seconds, 1e-9), 1) +
         " %)";
}

std::string unfinished_line(const std::string& end, const std::filesystem::path* directory,
                            const std::string& command_line) {
  if (directory == nullptr) return end + "; the run has no directory: nothing is saved";
  return end + ", saved in " + directory->string() +
         (command_line.empty() ? "; the same program resumes it"
                               : "; resume with: " + command_line);
}

}  // namespace pagoda
