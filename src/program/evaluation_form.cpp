#include "program/evaluation_form.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <ATen/core/enum_tag.h>

namespace pagoda {
namespace {

using Kind = GraphArgument::Kind;

/// Which buffer a value is, or is a view of.
using BufferNames = std::map<std::string, std::string>;

const GraphArgument* given_argument(const ProgramNode& node, std::string_view name) {
  for (const auto& [own, value] : node.inputs) {
    if (own == name) return &value;
  }
  return nullptr;
}

bool is_given(const ProgramNode& node, std::string_view name) {
  const GraphArgument* argument = given_argument(node, name);
  return argument != nullptr && argument->kind == Kind::value;
}

bool is_true(const GraphArgument& argument) {
  return argument.kind == Kind::literal && argument.literal.isBool() && argument.literal.toBool();
}

bool is_flag(const std::string& argument) {
  return argument == "train" || argument == "training" || argument == "use_input_stats";
}

bool is_dropout(const std::string& argument) { return argument == "dropout_p"; }

/// Whether an operator can be told that this is no training.
bool has_flag(const c10::FunctionSchema& schema) {
  return std::any_of(
      schema.arguments().begin(), schema.arguments().end(),
      [](const auto& argument) { return is_flag(argument.name()) || is_dropout(argument.name()); });
}

/// BatchNorm without statistics of its own normalises by the batch in evaluation, too.
void turn_flags(ProgramNode& node) {
  const bool is_norm = given_argument(node, "running_mean") != nullptr;
  const bool has_statistics = is_given(node, "running_mean");
  for (auto& [name, value] : node.inputs) {
    if (is_flag(name) && is_true(value) && (!is_norm || has_statistics)) value.literal = false;
    if (is_dropout(name)) value = {.literal = 0.0};
  }
}

class EvaluationMaker {
 public:
  EvaluationMaker(const OperatorTable& operators, std::vector<ProgramProblem>& problems)
      : operators_(operators), problems_(problems) {}

  /// Adds to `buffers` what is a view of one.
  Graph make(Graph graph, BufferNames& buffers) {
    std::vector<ProgramNode> kept;
    for (ProgramNode& node : graph.nodes) {
      if (change(node, buffers)) kept.push_back(std::move(node));
    }
    graph.nodes = std::move(kept);
    for (const GraphArgument& output : graph.outputs) note_read(output, buffers);
    return graph;
  }

  void report() {
    for (const auto& [buffer, writer] : written_) {
      if (read_.count(buffer) != 0)
        add_problem(
            problems_,
            writer.what + " changes the buffer '" + buffer + "', with which the model computes",
            writer.module);
    }
  }

 private:
  /// False for a node that evaluation leaves out.
  bool change(ProgramNode& node, BufferNames& buffers) {
    const OperatorTable::Found found = operators_.find(node.target);
    if (!found.handle) return change_region(node, buffers);
    const c10::FunctionSchema& schema = found.handle->schema();
    const bool turned = has_flag(schema);
    if (turned) turn_flags(node);
    note_views(node, schema, buffers);
    if (!turned && writes_buffer(node, schema, buffers)) return false;
    if (!turned && found.handle->hasTag(at::Tag::nondeterministic_seeded))
      add_problem(problems_, operator_text(node.target) + " draws random numbers", node.module);
    if (turned) return true;  // BatchNorm's own statistics
    for (const auto& [name, value] : node.inputs) note_read(value, buffers);
    return true;
  }

  bool change_region(ProgramNode& node, BufferNames& buffers) {
    for (auto& [name, value] : node.inputs) {
      if (value.kind == Kind::graph) {
        BufferNames inner = passed_buffers(node, *value.graph, buffers);
        value.graph = std::make_shared<const Graph>(make(*value.graph, inner));
      }
    }
    return true;
  }

  /// The inputs of a region's graph that are buffers. They are the node's last arguments, or the
  /// members of a list that is the last.
  static BufferNames passed_buffers(const ProgramNode& node, const Graph& graph,
                                    const BufferNames& buffers) {
    std::vector<const GraphArgument*> passed;
    for (const auto& [name, value] : node.inputs) {
      if (value.kind == Kind::list)
        for (const GraphArgument& item : value.items) passed.push_back(&item);
      else
        passed.push_back(&value);
    }
    BufferNames inner;
    const std::size_t count = std::min(passed.size(), graph.inputs.size());
    for (std::size_t i = 0; i < count; ++i) {
      const auto found = buffers.find(passed[passed.size() - count + i]->name);
      const GraphArgument& input = graph.inputs[graph.inputs.size() - count + i];
      if (found != buffers.end()) inner[input.name] = found->second;
    }
    return inner;
  }

  static const std::string* buffer_of(const GraphArgument* argument, const BufferNames& buffers) {
    if (argument == nullptr || argument->kind != Kind::value) return nullptr;
    const auto found = buffers.find(argument->name);
    return found != buffers.end() ? &found->second : nullptr;
  }

  static void note_views(const ProgramNode& node, const c10::FunctionSchema& schema,
                         BufferNames& buffers) {
    for (const c10::Argument& argument : schema.arguments()) {
      if (argument.alias_info() == nullptr) continue;
      const std::string* buffer = buffer_of(given_argument(node, argument.name()), buffers);
      if (buffer == nullptr) continue;
      for (const GraphArgument& output : node.outputs) {
        if (output.kind == Kind::value) buffers.emplace(output.name, *buffer);
        for (const GraphArgument& item : output.items) buffers.emplace(item.name, *buffer);
      }
    }
  }

  bool writes_buffer(const ProgramNode& node, const c10::FunctionSchema& schema,
                     const BufferNames& buffers) {
    bool writes = false;
    for (const c10::Argument& argument : schema.arguments()) {
      if (argument.alias_info() == nullptr || !argument.alias_info()->isWrite()) continue;
      const std::string* buffer = buffer_of(given_argument(node, argument.name()), buffers);
      if (buffer == nullptr) continue;
      written_.emplace(*buffer, Writer{operator_text(node.target), node.module});
      writes = true;
    }
    return writes;
  }

  void note_read(const GraphArgument& argument, const BufferNames& buffers) {
    if (const std::string* buffer = buffer_of(&argument, buffers)) read_.insert(*buffer);
    for (const GraphArgument& item : argument.items) note_read(item, buffers);
  }

  struct Writer {
    std::string what;
    std::string module;
  };

  const OperatorTable& operators_;
  std::vector<ProgramProblem>& problems_;
  std::map<std::string, Writer> written_;
  std::set<std::string> read_;
};

}  // namespace

EvaluationForm evaluation_form(const GraphProgram& program, const OperatorTable& operators) {
  BufferNames buffers;
  for (const InputSpec& input : program.inputs) {
    if (input.kind == InputSpec::Kind::buffer) buffers[input.name] = input.target;
  }
  EvaluationForm form;
  EvaluationMaker maker(operators, form.problems);
  form.graph = maker.make(program.graph, buffers);
  maker.report();
  return form;
}

}  // namespace pagoda
