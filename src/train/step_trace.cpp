#include <pagoda/base/atomic_file.h>
#include <pagoda/base/error.h>
#include <pagoda/base/temporary_directory.h>
#include <pagoda/base/whole_file.h>
#include <pagoda/train/step_trace.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

#include <torch/csrc/autograd/profiler_kineto.h>

namespace pagoda {
namespace {

namespace profiler = torch::profiler::impl;

/// Events of all threads; by default only the calling one is recorded.
profiler::ProfilerConfig configuration() {
  profiler::ExperimentalConfig experimental;
  experimental.profile_all_threads = true;
  return profiler::ProfilerConfig(profiler::ProfilerState::KINETO, /*report_input_shapes=*/false,
                                  /*profile_memory=*/false, /*with_stack=*/false,
                                  /*with_flops=*/false, /*with_modules=*/false, experimental);
}

void check_writable(const std::filesystem::path& file) {
  const std::filesystem::path parent = file.has_parent_path() ? file.parent_path() : ".";
  if (access(parent.c_str(), W_OK | X_OK) != 0 || std::filesystem::is_directory(file)) {
    throw IoError("cannot write the trace " + file.string() +
                  "; give a file in a directory that exists and can be written");
  }
}

/// Kineto names a row "thread 4711 (tower 0)", and the row whose thread comes after the process's
/// number twice, the second time after the process. Gives towers' rows the name "tower 0".
std::string with_tower_rows(std::string trace) {
  static const std::regex named("\"(thread [0-9]+) \\((tower [0-9]+)\\)\"");
  std::map<std::string, std::string> towers;  // by thread
  for (std::sregex_iterator row(trace.begin(), trace.end(), named), end; row != end; ++row) {
    towers[(*row)[1]] = (*row)[2];
  }
  for (const auto& [thread, tower] : towers) {
    trace = std::regex_replace(trace, std::regex("\"" + thread + " \\([^\")]*\\)\""),
                               "\"" + tower + "\"");
  }
  return trace;
}

/// One event of a trace as Kineto writes it, and what follows it up to the next.
struct TraceEvent {
  std::size_t begin;
  std::size_t end;
  bool is_metadata;  // names something, and is nothing that happened
  std::string_view process;
};

std::vector<TraceEvent> events_of(std::string_view trace) {
  constexpr std::string_view kBegin = "\n  {\n";
  constexpr std::string_view kProcess = "\"pid\": ";
  std::vector<TraceEvent> events;
  for (std::size_t begin = trace.find(kBegin); begin != std::string_view::npos;) {
    const std::size_t next = trace.find(kBegin, begin + 1);
    const std::string_view text = trace.substr(begin, next - begin);
    const std::size_t process = std::min(text.find(kProcess), text.size() - kProcess.size());
    const std::string_view rest = text.substr(process + kProcess.size());
    events.push_back({begin, begin + text.size(), text.find("\"ph\": \"M\"") != text.npos,
                      rest.substr(0, rest.find_first_of(",\n"))});
    begin = next;
  }
  return events;
}

/// Kineto names a process for each card that could be there. Leaves out those in which nothing
/// happened; the last event, which nothing may follow, is never one of theirs.
std::string without_empty_processes(const std::string& trace) {
  const std::vector<TraceEvent> events = events_of(trace);
  std::set<std::string_view> used;
  for (const TraceEvent& event : events) {
    if (!event.is_metadata) used.insert(event.process);
  }
  std::string kept;
  std::size_t done = 0;
  for (const TraceEvent& event : events) {
    if (!event.is_metadata || used.contains(event.process)) continue;
    kept.append(trace, done, event.begin - done);
    done = event.end;
  }
  return kept.append(trace, done);
}

/// What LibTorch writes of it. It says nothing of a write that failed: the file is not there then,
/// or lacks its end.
std::string saved(torch::autograd::profiler::ProfilerResult& result) {
  const TemporaryDirectory scratch("trace");
  const std::filesystem::path file = scratch.path() / "trace.json";
  result.save(file.string());
  std::string trace = read_file_if_any(file).value_or("");
  if (!trace.ends_with('}')) {
    throw IoError("LibTorch could not write the trace to " + file.string() +
                  "; make room there, or set TMPDIR to another directory");
  }
  return trace;
}

}  // namespace

StepTrace::StepTrace(std::filesystem::path file, std::int64_t first, std::int64_t last)
    : file_(std::move(file)), first_(first), last_(last) {
  if (first < 1 || last < first) {
    throw UsageError("cannot trace steps " + std::to_string(first) + " to " + std::to_string(last) +
                     "; steps count from 1, and the last does not come before the first");
  }
  check_writable(file_);
}

StepTrace::~StepTrace() {
  if (!recording_) return;
  try {
    torch::autograd::profiler::disableProfiler();
  } catch (const std::exception&) {  // no memory for what nobody will see
  }
}

void StepTrace::before(std::int64_t step) {
  if (step != first_) return;
  const std::set<profiler::ActivityType> activities{profiler::ActivityType::CPU,
                                                    profiler::ActivityType::CUDA};
  torch::autograd::profiler::prepareProfiler(configuration(), activities);
  torch::autograd::profiler::enableProfiler(
      configuration(), activities,
      {at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION, at::RecordScope::USER_SCOPE});
  recording_ = true;
}

bool StepTrace::after(std::int64_t step) {
  if (!recording_ || step < last_) return false;
  recording_ = false;
  const std::string trace = saved(*torch::autograd::profiler::disableProfiler());
  write_whole_file(file_, with_tower_rows(without_empty_processes(trace)));
  return true;
}

}  // namespace pagoda
