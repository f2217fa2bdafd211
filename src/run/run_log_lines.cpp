#include "run/run_log_lines.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string_view>

namespace pagoda {
namespace {

constexpr std::string_view kBest = " (best so far)";
constexpr std::string_view kAfterStep = " after step ";
constexpr const char* kFinished = "finished";
constexpr const char* kStoppedEarly = "stopped early";
constexpr const char* kStopped = "stopped";
constexpr const char* kOutOfTime = "out of time";
constexpr const char* kEnds[] = {kFinished, kStoppedEarly, kStopped, kOutOfTime};
constexpr std::size_t kDateColumns = sizeof "2026-01-31 12:34:56" - 1;

std::string four_decimals(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4f", value);
  return text;
}

std::int64_t step_in(const std::string& text) {
  const std::size_t at = text.find(kAfterStep);
  return at == std::string::npos ? 0 : std::atoll(text.c_str() + at + kAfterStep.size());
}

}  // namespace

std::string validation_line(std::int64_t step, const Evaluation& evaluation, bool is_best) {
  std::string line = "validation" + std::string(kAfterStep) + std::to_string(step) + ": loss " +
                     four_decimals(evaluation.loss);
  for (const auto& [name, value] : evaluation.metrics)
    line += ", " + name + " " + four_decimals(value);
  return is_best ? line + std::string(kBest) : line;
}

const char* end_name(LoopEnd end, bool stopped_early) {
  switch (end) {
    case LoopEnd::finished:
    case LoopEnd::out_of_data:
      return stopped_early ? kStoppedEarly : kFinished;
    case LoopEnd::out_of_time:
      return kOutOfTime;
    case LoopEnd::stopped:
      return stopped_early ? kStoppedEarly : kStopped;
  }
  return "";
}

std::string end_line(const std::string& end, std::int64_t step) {
  return end + std::string(kAfterStep) + std::to_string(step);
}

bool is_done(const std::string& end) { return end == kFinished || end == kStoppedEarly; }

LogFacts log_facts(const std::string& log) {
  LogFacts facts;
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    if (line.size() <= kDateColumns) continue;
    const std::string text = line.substr(kDateColumns + 1);
    if (text.ends_with(kBest)) {
      const std::size_t begin = std::min(text.find(": "), text.size() - kBest.size() - 2) + 2;
      facts.best = text.substr(begin, text.size() - kBest.size() - begin);
      facts.best_step = step_in(text);
    }
    for (const std::string end : kEnds) {
      if (!text.starts_with(end + std::string(kAfterStep))) continue;
      facts.end = end;
      facts.end_step = step_in(text);
    }
  }
  return facts;
}

}  // namespace pagoda
