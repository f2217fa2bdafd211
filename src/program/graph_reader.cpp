#include "program/graph_reader.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "program/argument_reader.h"
#include "program/json_members.h"
#include "program/printable_text.h"
#include "program/type_codes.h"

namespace pagoda {
namespace {

constexpr std::int64_t kSchemaMajor = 8;

std::vector<GraphArgument> read_arguments(const JsonValue::List& list) {
  std::vector<GraphArgument> arguments;
  std::transform(list.begin(), list.end(), std::back_inserter(arguments), read_argument);
  return arguments;
}

/// The innermost entry of "key,path,class;key,path,class": the path of the module.
std::string module_path(const std::string& stack) {
  const std::size_t last = stack.rfind(';');
  const std::string entry = last == std::string::npos ? stack : stack.substr(last + 1);
  const std::size_t begin = entry.find(',');
  if (begin == std::string::npos) return "";
  const std::string path = entry.substr(begin + 1, entry.find(',', begin + 1) - begin - 1);
  // What torch writes where there is no module.
  return path.starts_with("_empty_nn_module_stack") ? "" : path;
}

std::string module_of(const JsonValue& node) {
  const JsonValue* metadata = node.find("metadata");
  const JsonValue* stack = metadata != nullptr ? metadata->find("nn_module_stack") : nullptr;
  const std::string* text = stack != nullptr ? stack->as<std::string>() : nullptr;
  return text != nullptr ? module_path(*text) : "";
}

ProgramNode read_node(const JsonValue& json) {
  ProgramNode node{.target = text_member(json, "target"),
                   .inputs = {},
                   .outputs = read_arguments(list_member(json, "outputs")),
                   .module = module_of(json)};
  for (const JsonValue& input : list_member(json, "inputs"))
    node.inputs.push_back({text_member(input, "name"), read_argument(member(input, "arg"))});
  return node;
}

TensorMeta read_tensor_meta(const JsonValue& json) {
  TensorMeta meta{.type = scalar_type_of(member_as<std::int64_t>(json, "dtype")), .sizes = {}};
  for (const JsonValue& size : list_member(json, "sizes")) meta.sizes.push_back(read_size(size));
  return meta;
}

void read_tensors(const JsonValue& json, Graph& graph) {
  const JsonValue& tensors = member(json, "tensor_values");
  for (const auto* list : {&graph.inputs, &graph.outputs}) {
    for (const GraphArgument& argument : *list) {
      if (argument.kind != GraphArgument::Kind::value || argument.is_number) continue;
      if (const JsonValue* meta = tensors.find(argument.name))
        graph.tensors.emplace(argument.name, read_tensor_meta(*meta));
    }
  }
}

const std::string& argument_name(const JsonValue& spec) {
  return text_member(member(spec, "arg"), "name");
}

InputSpec read_user_input(const JsonValue& content) {
  const GraphArgument argument = read_argument(member(content, "arg"));
  if (argument.kind != GraphArgument::Kind::value)
    throw DataError("an input is neither a tensor nor a number");
  if (printable_text(argument.name) != argument.name)
    throw DataError("an input has the name " + quoted_text(argument.name));
  return {.kind = InputSpec::Kind::user, .name = argument.name, .is_number = argument.is_number};
}

InputSpec read_input_spec(const JsonValue& json) {
  using Kind = InputSpec::Kind;
  const auto& [kind, content] = only_member(json);
  if (kind == "user_input") return read_user_input(content);
  if (kind == "parameter")
    return {Kind::parameter, argument_name(content), text_member(content, "parameter_name")};
  if (kind == "buffer") {
    return {Kind::buffer, argument_name(content), text_member(content, "buffer_name"),
            member_as<bool>(content, "persistent")};
  }
  if (kind == "tensor_constant")
    return {Kind::constant, argument_name(content), text_member(content, "tensor_constant_name")};
  if (kind == "constant_input") return {Kind::literal, text_member(content, "name")};
  throw DataError("it has an input of the kind " + quoted_text(kind) +
                  ", which only Python can make");
}

/// The keys of a dict that forward returned, in a tree as pytree writes it; empty for anything else.
std::vector<std::string> dict_keys(const JsonValue& tree) {
  const JsonValue* context = tree.find("context");
  const JsonValue* children = tree.find("children_spec");
  const auto* text = context != nullptr ? context->as<std::string>() : nullptr;
  const auto* parts = children != nullptr ? children->as<JsonValue::List>() : nullptr;
  if (text == nullptr || parts == nullptr || text->empty() || text->front() != '[') return {};
  const JsonValue keys = parse_json(*text, "the names of the outputs");
  const auto* list = keys.as<JsonValue::List>();
  if (list == nullptr || list->size() != parts->size()) return {};
  std::vector<std::string> names;
  for (std::size_t i = 0; i < list->size(); ++i) {
    const JsonValue* inner = (*parts)[i].find("children_spec");
    const auto* leaves = inner != nullptr ? inner->as<JsonValue::List>() : nullptr;
    const auto* name = (*list)[i].as<std::string>();
    if (name == nullptr || leaves == nullptr || !leaves->empty()) return {};
    names.push_back(*name);
  }
  return names;
}

std::vector<std::string> returned_names(const JsonValue& module) {
  const JsonValue::List& calls = list_member(module, "module_call_graph");
  const JsonValue* signature = calls.empty() ? nullptr : calls.front().find("signature");
  const JsonValue* spec = signature != nullptr ? signature->find("out_spec") : nullptr;
  const auto* text = spec != nullptr ? spec->as<std::string>() : nullptr;
  if (text == nullptr || text->empty()) return {};
  const JsonValue tree = parse_json(*text, "the tree of the outputs");
  const auto* versioned = tree.as<JsonValue::List>();
  return versioned != nullptr && versioned->size() == 2 ? dict_keys((*versioned)[1])
                                                        : std::vector<std::string>{};
}

std::vector<std::string> output_names(const JsonValue& module, const Graph& graph) {
  const std::vector<std::string> returned = returned_names(module);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    const std::string& own = graph.outputs[i].name;
    if (returned.size() == graph.outputs.size())
      names.push_back(printable_text(returned[i]));
    else
      names.push_back(own.empty() ? "output " + std::to_string(i) : printable_text(own));
  }
  return names;
}

/// `add_(parameter)` and the like are nodes of the graph; an output that is no user's belongs to
/// programs that were decomposed.
void check_outputs(const JsonValue& signature) {
  for (const JsonValue& spec : list_member(signature, "output_specs")) {
    const std::string& kind = only_member(spec).name;
    if (kind != "user_output" && kind != "loss_output") {
      throw DataError("it has an output of the kind " + quoted_text(kind) +
                      ", as decomposed programs have; save what torch.export.export returned");
    }
  }
}

void check_version(const JsonValue& json) {
  const std::int64_t major = member_as<std::int64_t>(member(json, "schema_version"), "major");
  if (major == kSchemaMajor) return;
  throw DataError("it has version " + std::to_string(major) + " of the format, written by torch " +
                  quoted_text(text_member(json, "torch_version")) +
                  "; this program reads version " + std::to_string(kSchemaMajor) +
                  ", of torch 2.9.1 and later");
}

void check_training(const JsonValue& json) {
  for (const JsonValue& verifier : list_member(json, "verifiers")) {
    if (value_as<std::string>(verifier, "verifiers") == "TRAINING") return;
  }
  throw DataError(
      "it was decomposed (run_decompositions), which loses what training needs, such as regions "
      "without gradients; save what torch.export.export returned");
}

std::optional<std::int64_t> read_limit(const JsonValue& range, const char* name) {
  const JsonValue* limit = range.find(name);
  const auto* number = limit != nullptr ? limit->as<std::int64_t>() : nullptr;
  return number != nullptr ? std::optional(*number) : std::nullopt;
}

}  // namespace

Graph read_graph(const JsonValue& json) {
  Graph graph{.inputs = read_arguments(list_member(json, "inputs")),
              .outputs = read_arguments(list_member(json, "outputs")),
              .nodes = {},
              .tensors = {}};
  for (const JsonValue& node : list_member(json, "nodes")) graph.nodes.push_back(read_node(node));
  read_tensors(json, graph);
  return graph;
}

GraphProgram read_program(const JsonValue& json) {
  check_version(json);
  check_training(json);
  const JsonValue& module = member(json, "graph_module");
  const JsonValue& signature = member(module, "signature");
  check_outputs(signature);
  GraphProgram program{.graph = read_graph(member(module, "graph")),
                       .inputs = {},
                       .output_names = {},
                       .symbols = {},
                       .torch_version = text_member(json, "torch_version")};
  for (const JsonValue& spec : list_member(signature, "input_specs"))
    program.inputs.push_back(read_input_spec(spec));
  if (program.inputs.size() != program.graph.inputs.size())
    throw DataError("its signature does not fit its graph");
  program.output_names = output_names(module, program.graph);
  for (const auto& [symbol, range] : object_member(json, "range_constraints"))
    program.symbols[symbol] = {read_limit(range, "min_val"), read_limit(range, "max_val")};
  return program;
}

}  // namespace pagoda
