#include <pagoda/base/json.h>
#include <pagoda/doctor/finding.h>
#include <pagoda/terminal/screen.h>
#include <pagoda/terminal/text_table.h>

#include <algorithm>
#include <cstdio>
#include <unistd.h>

#include "commands/commands.h"

namespace pagoda::app {
namespace {

constexpr const char* kIndent = "       ";  // as wide as what stands before a subject

Emphasis emphasis_of(Health health) {
  return health == Health::fine   ? Emphasis::green
         : health == Health::note ? Emphasis::yellow
                                  : Emphasis::red;
}

void print_findings(const std::vector<Finding>& findings) {
  const bool colours = has_colours(STDOUT_FILENO);
  std::size_t width = 0;
  for (const Finding& finding : findings) width = std::max(width, finding.subject.size());
  for (const Finding& finding : findings) {
    const std::string mark = finding.health == Health::fine ? "ok" : health_name(finding.health);
    const std::string padding(5 - mark.size(), ' ');
    std::printf("%s%s  %-*s  %s\n", emphasised(mark, emphasis_of(finding.health), colours).c_str(),
                padding.c_str(), static_cast<int>(width), finding.subject.c_str(),
                finding.text.c_str());
    if (!finding.remedy.empty())
      std::printf("%s%-*s  > %s\n", kIndent, static_cast<int>(width), "", finding.remedy.c_str());
  }
}

void print_findings_json(const std::vector<Finding>& findings) {
  JsonWriter json;
  json.begin_array();
  for (const Finding& finding : findings) {
    json.begin_object().key("health").value(health_name(finding.health));
    json.key("subject").value(finding.subject).key("text").value(finding.text);
    json.key("remedy");
    finding.remedy.empty() ? json.null() : json.value(finding.remedy);
    json.end_object();
  }
  json.end_array();
  std::puts(json.text().c_str());
}

int run_doctor(bool json) {
  const auto findings = examine(machine_facts());
  json ? print_findings_json(findings) : print_findings(findings);
  const auto wrong = std::count_if(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.health == Health::wrong;
  });
  if (!json) {
    std::printf("\n%s\n", wrong == 0 ? "Nothing is wrong."
                                     : (counted(wrong, "thing") + (wrong == 1 ? " is" : " are") +
                                        " wrong; the lines after > say what mends it.")
                                           .c_str());
  }
  return wrong == 0 ? 0 : 1;
}

}  // namespace

void add_doctor_command(CLI::App& program, Action& action) {
  auto json = std::make_shared<bool>(false);
  CLI::App* command = program.add_subcommand(
      "doctor",
      "Look at LibTorch, cards, cores, memory and files: what is wrong, and what mends it");
  command->add_flag("--json", *json, "print a JSON array instead of lines");
  command->callback([json, &action] { action = [json] { return run_doctor(*json); }; });
}

}  // namespace pagoda::app
