#include "program/graph_compiler.h"

#include <pagoda/base/error.h>

#include <algorithm>
#include <utility>

#include "base/quoted_text.h"
#include "program/instructions.h"
#include "program/operand_maker.h"

namespace pagoda {
namespace {

using Kind = GraphArgument::Kind;
using Arguments = std::vector<NamedArgument>;

/// Checks of types and devices that were made when the program was written, for its devices and
/// without autocast. What enters a program is checked by its model.
bool is_dropped(const std::string& target) {
  return target == "torch.ops.aten._assert_tensor_metadata.default";
}

const c10::IValue& literal_argument(const Arguments& arguments, std::size_t index) {
  if (index >= arguments.size() || arguments[index].value.kind != Kind::literal)
    throw Unsupported("has other arguments than this library knows");
  return arguments[index].value.literal;
}

const Graph& graph_argument(const Arguments& arguments, std::size_t index) {
  if (index >= arguments.size() || arguments[index].value.kind != Kind::graph)
    throw Unsupported("has other arguments than this library knows");
  return *arguments[index].value.graph;
}

bool truth(const c10::IValue& value) {
  if (!value.isBool()) throw Unsupported("has other arguments than this library knows");
  return value.toBool();
}

/// Whether a call normalises by the statistics of its batch.
bool is_training_batch_norm(const c10::FunctionSchema& schema, const ProgramNode& node) {
  if (schema.name() != "aten::batch_norm" || node.inputs.empty()) return false;
  return std::any_of(node.inputs.begin(), node.inputs.end(), [](const NamedArgument& argument) {
    return argument.name == "training" && argument.value.literal.isBool() &&
           argument.value.literal.toBool();
  });
}

}  // namespace

/// Compiles one graph.
class BlockMaker {
 public:
  explicit BlockMaker(GraphCompiler& compiler) : compiler_(compiler) {}

  std::unique_ptr<const ProgramBlock> make(const Graph& graph) {
    for (const GraphArgument& input : graph.inputs)
      new_slot(input.kind == Kind::value ? input.name : "");
    for (const ProgramNode& node : graph.nodes) {
      if (!is_dropped(node.target)) add(node);
    }
    std::vector<Operand> outputs;
    for (const GraphArgument& output : graph.outputs) {
      try {
        outputs.push_back(plain_operand(output, slots_));
      } catch (const Unsupported&) {
        throw DataError("an output of the program is neither a tensor nor a number");
      }
    }
    if (failed_) return nullptr;
    return std::make_unique<const ProgramBlock>(count_, std::move(instructions_),
                                                std::move(outputs));
  }

 private:
  void add(const ProgramNode& node) {
    std::unique_ptr<Instruction> instruction;
    try {
      instruction = compiled(node);
    } catch (const Unsupported& reason) {
      add_problem(compiler_.problems_, operator_text(node.target) + " " + reason.what(),
                  node.module);
    }
    if (instruction) {
      instruction->about =
          operator_text(node.target) + " of " +
          (node.module.empty() ? "the model" : "module " + quoted_text(node.module));
      for (const GraphArgument& output : node.outputs)
        instruction->results.push_back(result_for(output));
      instructions_.push_back(std::move(instruction));
    } else {
      failed_ = true;
      for (const GraphArgument& output : node.outputs) result_for(output);  // others name them
    }
  }

  /// Null when a part of it had problems, which are noted.
  std::unique_ptr<Instruction> compiled(const ProgramNode& node) {
    if (node.target == "torch.ops.higher_order.wrap_with_set_grad_enabled") return region(node);
    if (node.target == "torch.ops.higher_order.wrap_with_autocast") return autocast(node);
    if (node.target == "torch.ops.higher_order.cond") return condition(node);
    if (const NumberOperatorEntry known = number_operator(node.target); known.run != nullptr)
      return number(node, known);
    const OperatorTable::Found found = compiler_.operators_.find(node.target);
    if (!found.handle) throw Unsupported(found.refusal);
    return call(node, *found.handle);
  }

  std::unique_ptr<Instruction> call(const ProgramNode& node, const c10::OperatorHandle& handle) {
    const c10::FunctionSchema& schema = handle.schema();
    auto instruction = is_training_batch_norm(schema, node)
                           ? std::make_unique<BatchNormCall>(handle)
                           : std::make_unique<OperatorCall>(handle);
    std::size_t taken = 0;
    for (const c10::Argument& wanted : schema.arguments()) {
      const auto given =
          std::find_if(node.inputs.begin(), node.inputs.end(),
                       [&](const NamedArgument& input) { return input.name == wanted.name(); });
      if (given != node.inputs.end()) {
        instruction->operands.push_back(operand_for(given->value, wanted, slots_));
        ++taken;
      } else if (wanted.default_value()) {
        instruction->operands.push_back({.constant = *wanted.default_value()});
      } else {
        throw Unsupported("is called without '" + wanted.name() + "'");
      }
    }
    if (taken != node.inputs.size())
      throw Unsupported("is called with arguments that it does not have here");
    check_results(node, schema);
    return instruction;
  }

  void check_results(const ProgramNode& node, const c10::FunctionSchema& schema) const {
    if (node.outputs.size() > schema.returns().size())
      throw Unsupported("gives fewer results than the program takes");
  }

  std::unique_ptr<Instruction> number(const ProgramNode& node, const NumberOperatorEntry& known) {
    if (node.inputs.size() != known.operands || node.outputs.size() != 1)
      throw Unsupported("has other arguments than this library knows");
    auto instruction = std::make_unique<NumberCall>(known.run);
    for (const auto& [name, value] : node.inputs) {
      const bool is_number =
          value.kind == Kind::value
              ? value.is_number
              : value.literal.isInt() || value.literal.isDouble() || value.literal.isBool();
      if (!is_number) throw Unsupported("is called with something that is no number");
      instruction->operands.push_back(plain_operand(value, slots_));
    }
    return instruction;
  }

  std::unique_ptr<Instruction> region(const ProgramNode& node) {
    const bool enabled = truth(literal_argument(node.inputs, 0));
    auto block = compiler_.compile(graph_argument(node.inputs, 1));
    return with_operands(block ? std::make_unique<GradRegion>(enabled, std::move(block)) : nullptr,
                         node.inputs, 2, graph_argument(node.inputs, 1));
  }

  std::unique_ptr<Instruction> autocast(const ProgramNode& node) {
    Autocast setting{.enabled = truth(literal_argument(node.inputs, 2))};
    if (const auto& type = literal_argument(node.inputs, 1); type.isInt())
      setting.type = static_cast<at::ScalarType>(type.toInt());
    if (const auto& cached = literal_argument(node.inputs, 3); cached.isBool())
      setting.cached = cached.toBool();
    auto block = compiler_.compile(graph_argument(node.inputs, 4));
    return with_operands(
        block ? std::make_unique<AutocastRegion>(setting, std::move(block)) : nullptr, node.inputs,
        5, graph_argument(node.inputs, 4));
  }

  std::unique_ptr<Instruction> condition(const ProgramNode& node) {
    const Graph& first = graph_argument(node.inputs, 1);
    const Graph& second = graph_argument(node.inputs, 2);
    auto when_true = compiler_.compile(first);
    auto when_false = compiler_.compile(second);
    if (node.inputs.size() != 4 || node.inputs[3].value.kind != Kind::list ||
        first.inputs.size() != second.inputs.size() ||
        first.outputs.size() != second.outputs.size()) {
      throw Unsupported("has other arguments than this library knows");
    }
    Arguments arguments;
    for (const GraphArgument& item : node.inputs[3].value.items) arguments.push_back({"", item});
    const bool whole = when_true != nullptr && when_false != nullptr;
    auto instruction = with_operands(
        whole ? std::make_unique<Condition>(std::move(when_true), std::move(when_false)) : nullptr,
        arguments, 0, first);
    if (instruction) {
      instruction->operands.insert(instruction->operands.begin(),
                                   plain_operand(node.inputs[0].value, slots_));
    }
    return instruction;
  }

  /// Adds what the graph of a region takes: the arguments from `first` on.
  std::unique_ptr<Instruction> with_operands(std::unique_ptr<Instruction> instruction,
                                             const Arguments& arguments, std::size_t first,
                                             const Graph& graph) {
    if (!instruction) return nullptr;
    if (arguments.size() - first != graph.inputs.size())
      throw Unsupported("is called with other arguments than its graph takes");
    for (std::size_t i = first; i < arguments.size(); ++i)
      instruction->operands.push_back(plain_operand(arguments[i].value, slots_));
    return instruction;
  }

  Result result_for(const GraphArgument& output) {
    Result result;
    if (output.kind == Kind::value) result.slot = new_slot(output.name);
    if (output.kind == Kind::list) {
      result.is_list = true;
      for (const GraphArgument& item : output.items)
        result.items.push_back(item.kind == Kind::value ? new_slot(item.name) : -1);
    }
    return result;
  }

  int new_slot(const std::string& name) {
    if (!name.empty() && !by_name_.emplace(name, count_).second)
      throw DataError("two values of a graph have the name " + quoted_text(name));
    return count_++;
  }

  GraphCompiler& compiler_;
  std::map<std::string, int> by_name_;
  int count_ = 0;
  const SlotOf slots_ = [this](const std::string& name) {
    const auto found = by_name_.find(name);
    if (found == by_name_.end())
      throw DataError("the value " + quoted_text(name) + " is used before it is computed");
    return found->second;
  };
  std::vector<std::unique_ptr<Instruction>> instructions_;
  bool failed_ = false;
};

std::unique_ptr<const ProgramBlock> GraphCompiler::compile(const Graph& graph) {
  return BlockMaker(*this).make(graph);
}

void add_problem(std::vector<ProgramProblem>& problems, const std::string& what,
                 const std::string& module) {
  const auto known = std::find_if(problems.begin(), problems.end(),
                                  [&](const ProgramProblem& other) { return other.what == what; });
  if (known != problems.end())
    ++known->count;
  else
    problems.push_back({what, module});
}

}  // namespace pagoda
