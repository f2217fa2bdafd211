#include <pagoda/program/program_summary.h>

#include <algorithm>
#include <map>

#include "program/loaded_program.h"
#include "program/operator_table.h"
#include "program/printable_text.h"

namespace pagoda {
namespace {

void count_operators(const Graph& graph, std::map<std::string, int>& counts) {
  for (const ProgramNode& node : graph.nodes) {
    ++counts[operator_text(node.target)];
    for (const NamedArgument& input : node.inputs) {
      if (input.value.graph) count_operators(*input.value.graph, counts);
    }
  }
}

std::vector<std::pair<std::string, int>> operator_counts(const Graph& graph) {
  std::map<std::string, int> counts;
  count_operators(graph, counts);
  std::vector<std::pair<std::string, int>> sorted(counts.begin(), counts.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return sorted;
}

ProgramSummary::Value value_of_graph(const std::string& name, const GraphArgument& argument,
                                     const Graph& graph) {
  const auto meta = graph.tensors.find(argument.name);
  if (meta != graph.tensors.end()) return {name, meta_text(meta->second)};
  return {name, argument.literal.isNone() && !argument.is_number ? "nothing" : "a number"};
}

TensorMeta meta_of(const at::Tensor& tensor) {
  TensorMeta meta{.type = tensor.scalar_type(), .sizes = {}};
  for (const std::int64_t size : tensor.sizes()) meta.sizes.push_back({.number = size});
  return meta;
}

}  // namespace

ProgramSummary describe_program(const std::filesystem::path& file, const ProgramOptions& options) {
  const LoadedProgram loaded = load_program(file, options);
  const GraphProgram& program = loaded.training;
  ProgramSummary summary{.torch_version = printable_text(program.torch_version),
                         .inputs = {},
                         .outputs = {},
                         .tensors = {},
                         .operators = operator_counts(program.graph),
                         .problems = {},
                         .evaluation = loaded.evaluation};
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    if (program.inputs[i].kind == InputSpec::Kind::user)
      summary.inputs.push_back(
          value_of_graph(program.inputs[i].name, program.graph.inputs[i], program.graph));
  }
  for (std::size_t i = 0; i < program.graph.outputs.size(); ++i) {
    summary.outputs.push_back(
        value_of_graph(program.output_names[i], program.graph.outputs[i], program.graph));
  }
  for (std::size_t i = 0; i < loaded.state.size(); ++i) {
    const StateEntry& entry = loaded.state[i];
    const bool is_tied = entry.same_as != i;
    summary.tensors.push_back(
        {.name = printable_text(entry.name),
         .about = meta_text(meta_of(entry.initial)),
         .elements = is_tied ? 0 : entry.initial.numel(),
         .is_parameter = entry.is_parameter,
         .requires_grad = entry.requires_grad,
         .tied_to = is_tied ? printable_text(loaded.state[entry.same_as].name) : ""});
  }
  for (const ProgramProblem& problem : loaded.problems)
    summary.problems.push_back(problems_text({problem}));
  return summary;
}

}  // namespace pagoda
