#include "run/run_processes.h"

#include <pagoda/base/error.h>
#include <pagoda/base/version.h>
#include <pagoda/checkpoint/state_dict.h>
#include <pagoda/world/text_of_first.h>

#include <algorithm>
#include <csignal>
#include <sstream>
#include <vector>

namespace pagoda {
namespace {

/// By reason: World counts them from 1, and the lowest goes first.
constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGXCPU};
constexpr int kTimeReason = std::size(kSignals) + 1;
static_assert(kTimeReason <= World::kStopReasons);

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// The first line in which the two differ: "batch-size = 8 instead of batch-size = 4".
std::string difference(const std::string& text, const std::string& expected) {
  const auto lines = lines_of(text);
  const auto others = lines_of(expected);
  for (std::size_t i = 0; i < std::max(lines.size(), others.size()); ++i) {
    const std::string line = i < lines.size() ? lines[i] : "nothing";
    const std::string other = i < others.size() ? others[i] : "nothing";
    if (line != other) return line + " instead of " + other;
  }
  return "something else";
}

/// Wherever its files lie.
std::string contents_of(const DataRecord& data) {
  std::string text;
  for (const DataInput& input : data.inputs) text += input.role + " " + input.content_text() + "\n";
  for (const auto& [name, count] : data.counts) text += name + " " + std::to_string(count) + "\n";
  return text;
}

/// Fails at every process, with the first difference, when the texts are not all the same.
void expect_same_text(World& world, const std::string& own) {
  const std::vector<std::string> all = world.gather(own);
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    if (all[rank] == all[0]) continue;
    throw UsageError(world.name(static_cast<int>(rank)) + " has another run than " + world.name(0) +
                     ": " + difference(all[rank], all[0]) +
                     "; start all processes with the same command and the same data");
  }
}

}  // namespace

bool first_has(World& world, bool own) {
  const at::Tensor told = at::zeros({1}, at::kLong).fill_(own ? 1 : 0);
  world.broadcast(told);
  return told.item<std::int64_t>() != 0;
}

void expect_same_run(World& world, const std::string& config, const DataRecord& data) {
  expect_same_text(world, "Pagoda " + std::string(version()) + "\n" + config + contents_of(data));
}

void expect_same_plan(World& world, const std::string& plan) { expect_same_text(world, plan); }

std::optional<Checkpoint> shared_checkpoint(World& world, std::optional<Checkpoint> own) {
  const std::string bytes = text_of_first(world, own ? checkpoint_bytes(*own) : "");
  if (world.rank() == 0 || bytes.empty()) return own;
  return parse_checkpoint(bytes, "the checkpoint of rank 0");
}

void expect_same_values(World& world, const TowerGroup& towers) {
  DataInput values;
  for (const auto& [name, tensor] : state_dict(towers.module(0))) {
    const at::Tensor bytes = tensor.detach().cpu().contiguous();
    add_content(values, std::string_view(static_cast<const char*>(bytes.const_data_ptr()),
                                         static_cast<std::size_t>(bytes.nbytes())));
  }
  const std::vector<std::string> all = world.gather(values.content_text());
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    if (all[rank] == all[0]) continue;
    throw UsageError(world.name(static_cast<int>(rank)) + " begins with other weights than " +
                     world.name(0) +
                     "; a model must be built alike in all processes: from the run's seed, or from "
                     "the same file");
  }
}

StopAgreement::StopAgreement(World* world, const StopSignal& signal,
                             std::optional<std::chrono::duration<double>> max_time)
    : world_(world), signal_(signal), max_time_(max_time) {}

bool StopAgreement::is_agreed() {
  if (world_ == nullptr) return signal_.asked();
  if (max_time_ && world_->rank() == 0 && watch_.seconds() >= max_time_->count())
    world_->ask_to_stop(kTimeReason);
  for (int i = 0; i < static_cast<int>(std::size(kSignals)); ++i) {
    if (signal_.number() == kSignals[i]) world_->ask_to_stop(i + 1);
  }
  return world_->agreed_to_stop() != 0;
}

int StopAgreement::signal_number() const {
  if (world_ == nullptr) return signal_.number();
  const int reason = world_->agreed_to_stop();
  return reason == 0 || reason == kTimeReason ? 0 : kSignals[reason - 1];
}

bool StopAgreement::is_time_up() const {
  return world_ != nullptr && world_->agreed_to_stop() == kTimeReason;
}

int StopAgreement::exit_code() const {
  if (world_ == nullptr) return signal_.exit_code();
  return signal_number() == 0 ? 0 : 128 + signal_number();
}

}  // namespace pagoda
