#include <pagoda/base/whole_file.h>
#include <pagoda/train/run_metrics.h>

#include <charconv>
#include <cstdio>
#include <sstream>

namespace pagoda {
namespace {

template <class Number>
bool parses(const std::string& text, Number& number) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc{} && stop == end;
}

}  // namespace

std::string RunMetric::line() const {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return std::to_string(step) + "\t" + name + "\t" + text;
}

std::vector<RunMetric> parse_metrics(const std::string& text) {
  std::vector<RunMetric> metrics;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line) && !lines.eof();) {
    const auto name_at = line.find('\t');
    const auto value_at = name_at == std::string::npos ? name_at : line.find('\t', name_at + 1);
    if (value_at == std::string::npos) continue;
    RunMetric metric{.name = line.substr(name_at + 1, value_at - name_at - 1)};
    if (parses(line.substr(0, name_at), metric.step) &&
        parses(line.substr(value_at + 1), metric.value))
      metrics.push_back(std::move(metric));
  }
  return metrics;
}

std::vector<RunMetric> read_run_metrics(const std::filesystem::path& run) {
  return parse_metrics(read_file_if_any(run / "metrics.tsv").value_or(""));
}

}  // namespace pagoda
