#include "run/program_report.h"

#include <pagoda/base/number_text.h>
#include <pagoda/terminal/text_table.h>

#include <algorithm>

namespace pagoda::app {
namespace {

using Lines = std::vector<std::vector<std::string>>;

std::string tensor_note(const ProgramSummary::Tensor& tensor) {
  if (!tensor.tied_to.empty()) return "tied to " + tensor.tied_to;
  if (!tensor.is_parameter) return "buffer";
  return tensor.requires_grad ? "" : "frozen";
}

std::string values_text(const char* title, const std::vector<ProgramSummary::Value>& values) {
  std::string text;
  for (const auto& [name, about] : values)
    text += std::string(title) + " " + name + ": " + about + "\n";
  return text;
}

}  // namespace

std::string program_report(const ProgramSummary& summary) {
  std::int64_t parameters = 0;
  for (const auto& tensor : summary.tensors)
    parameters += tensor.is_parameter ? tensor.elements : 0;
  int calls = 0;
  for (const auto& [name, count] : summary.operators) calls += count;
  std::string text = "program of torch " + summary.torch_version + ", " +
                     grouped(static_cast<double>(parameters)) + " parameters, " +
                     counted(calls, "call") + "\n";
  text += values_text("input", summary.inputs) + values_text("output", summary.outputs);
  text += "evaluation: " + summary.evaluation + "\n";
  Lines tensors = {{"tensor", "type and shape", ""}};
  for (const auto& tensor : summary.tensors)
    tensors.push_back({tensor.name, tensor.about, tensor_note(tensor)});
  Lines operators = {{"operator", "calls"}};
  for (const auto& [name, count] : summary.operators)
    operators.push_back({name, std::to_string(count)});
  text += text_table(tensors) + text_table(operators);
  for (const std::string& problem : summary.problems) text += "cannot be run: " + problem + "\n";
  return text;
}

}  // namespace pagoda::app
