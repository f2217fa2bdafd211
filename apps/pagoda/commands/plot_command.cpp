#include <pagoda/base/atomic_file.h>
#include <pagoda/base/error.h>
#include <pagoda/cli/flag_adder.h>
#include <pagoda/terminal/screen.h>
#include <pagoda/train/run_directory.h>
#include <pagoda/train/run_metrics.h>

#include <cstdio>
#include <filesystem>
#include <set>
#include <unistd.h>

#include "commands/commands.h"
#include "draw/terminal_chart.h"

namespace pagoda::app {
namespace {

constexpr int kUsualColumns = 80;

struct PlotFlags {
  std::vector<std::string> runs;
  std::string metric = "loss";
  std::string out;
  bool log_scale = false;
  int rows = 20;
};

/// The curve of one of a run's numbers; without points where it has none of that name.
Curve curve_of(const std::vector<RunMetric>& metrics, const std::string& name) {
  Curve curve{.name = name, .points = {}};
  for (const RunMetric& metric : metrics) {
    if (metric.name == name)
      curve.points.push_back({static_cast<double>(metric.step), metric.value});
  }
  return curve;
}

/// "loss, accuracy", for a message: what the run has of training or validation.
std::string metric_list(const std::vector<RunMetric>& metrics) {
  std::set<std::string> names;
  for (const RunMetric& metric : metrics) names.insert(metric.name);
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return list;
}

/// A name without a slash means the number in training and in validation, which older runs call test.
std::vector<std::string> wanted_names(const std::string& metric) {
  if (metric.find('/') != std::string::npos) return {metric};
  return {"train/" + metric, "validation/" + metric, "test/" + metric, metric};
}

/// "training loss" of "train/loss".
std::string shown_name(const std::string& name) {
  if (name.starts_with("train/")) return "training " + name.substr(6);
  if (name.starts_with("validation/")) return "validation " + name.substr(11);
  if (name.starts_with("test/")) return "validation " + name.substr(5);
  return name;
}

CurveChart chart_of(const PlotFlags& flags) {
  CurveChart chart{.curves = {}, .log_scale = flags.log_scale};
  for (std::size_t i = 0; i < flags.runs.size(); ++i) {
    const std::string& run = flags.runs[i];
    if (!holds_run(run))
      throw UsageError(run + " holds no run; pagoda runs lists those that there are");
    const auto metrics = read_run_metrics(run);
    const std::size_t before = chart.curves.size();
    for (const std::string& name : wanted_names(flags.metric)) {
      Curve curve = curve_of(metrics, name);
      if (curve.points.empty()) continue;
      curve.name = (flags.runs.size() > 1 ? run + ": " : "") + shown_name(name);
      curve.family = i;
      curve.strong = !name.starts_with("train/");
      chart.curves.push_back(std::move(curve));
    }
    if (chart.curves.size() == before) {
      throw UsageError(
          run + " has no number '" + flags.metric + "'" +
          (metrics.empty() ? ": nothing is logged yet" : "; it has " + metric_list(metrics)));
    }
  }
  return chart;
}

int run_plot(const PlotFlags& flags) {
  const std::string kind = std::filesystem::path(flags.out).extension();
  if (!flags.out.empty() && kind != ".svg" && kind != ".png")
    throw UsageError("--out " + flags.out + " must end in .svg or .png");
  const CurveChart chart = chart_of(flags);
  if (flags.out.empty()) {
    const int columns = terminal_columns(STDOUT_FILENO);
    std::fputs(terminal_chart(chart, {.columns = columns > 0 ? columns : kUsualColumns,
                                      .rows = flags.rows,
                                      .colours = has_colours(STDOUT_FILENO)})
                   .c_str(),
               stdout);
  } else {
    write_whole_file(flags.out, kind == ".svg" ? curve_chart_svg(chart) : curve_chart_png(chart));
  }
  return 0;
}

}  // namespace

void add_plot_command(CLI::App& program, Action& action) {
  auto flags = std::make_shared<PlotFlags>();
  CLI::App* command = program.add_subcommand(
      "plot", "Draw curves of runs, all in one picture: in the terminal, or as SVG or PNG");
  command->add_option("RUN", flags->runs, "directories of runs")->required();
  FlagAdder add(*command);
  add.option("--metric", flags->metric,
             "what to draw of training and validation, such as accuracy, or one number alone, such "
             "as train/grad_norm");
  add.option("--out", flags->out, "file to write, .svg or .png (default: draw in the terminal)");
  add.flag("--log-scale", flags->log_scale, "logarithmic values");
  add.whole("--rows", flags->rows, 4, 200, "lines of the curves in the terminal");
  command->callback([flags, &action] { action = [flags] { return run_plot(*flags); }; });
}

}  // namespace pagoda::app
