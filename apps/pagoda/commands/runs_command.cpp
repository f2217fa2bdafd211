#include <pagoda/base/error_text.h>
#include <pagoda/base/json.h>
#include <pagoda/run/run_listing.h>
#include <pagoda/terminal/text_table.h>

#include <cstdio>

#include "commands/commands.h"
#include "run/warning.h"

namespace pagoda::app {
namespace {

/// The runs that can be read; of others a line on stderr.
std::vector<RunListing> readable_runs(const std::string& directory) {
  std::vector<RunListing> runs;
  for (const auto& path : find_runs(directory)) {
    try {
      runs.push_back(list_run(path));
    } catch (const std::exception&) {
      print_warning(error_text(std::current_exception()));
    }
  }
  return runs;
}

void print_runs(const std::vector<RunListing>& runs) {
  std::vector<std::vector<std::string>> rows{{"run", "model", "state", "step", "best", "at step"}};
  for (const RunListing& run : runs) {
    rows.push_back({run.path.string(), run.model, stage_name(run.stage), std::to_string(run.step),
                    run.best.empty() ? "-" : run.best,
                    run.best.empty() ? "-" : std::to_string(run.best_step)});
  }
  std::fputs(text_table(rows).c_str(), stdout);
}

void print_runs_json(const std::vector<RunListing>& runs) {
  JsonWriter json;
  json.begin_array();
  for (const RunListing& run : runs) {
    json.begin_object().key("run").value(run.path.string()).key("model").value(run.model);
    json.key("state").value(stage_name(run.stage)).key("step").value(run.step).key("best");
    run.best.empty() ? json.null() : json.value(run.best);
    json.key("best_step");
    run.best.empty() ? json.null() : json.value(run.best_step);
    json.end_object();
  }
  json.end_array();
  std::puts(json.text().c_str());
}

}  // namespace

void add_runs_command(CLI::App& program, Action& action) {
  struct Flags {
    std::string directory = ".";
    bool json = false;
  };
  auto flags = std::make_shared<Flags>();
  CLI::App* command = program.add_subcommand(
      "runs", "List the runs below a directory: model, state, step and best validation");
  command->add_option("DIR", flags->directory, "directory to look below")->capture_default_str();
  command->add_flag("--json", flags->json, "print a JSON array instead of a table");
  command->callback([flags, &action] {
    action = [flags] {
      const auto runs = readable_runs(flags->directory);
      if (runs.empty() && !flags->json) {
        std::fprintf(stderr, "pagoda: no run lies below %s\n", flags->directory.c_str());
        return 0;
      }
      flags->json ? print_runs_json(runs) : print_runs(runs);
      return 0;
    };
  });
}

}  // namespace pagoda::app
