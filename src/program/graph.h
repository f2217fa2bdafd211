#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <ATen/core/ivalue.h>
#include <c10/core/ScalarType.h>

namespace pagoda {

// A program as its file has it (torch/_export/serde/schema.py), without the JSON: names, not slots.

struct Graph;

/// What a node takes or gives.
struct GraphArgument {
  enum class Kind {
    literal,      ///< a number, truth value, text, type, layout, or nothing
    value,        ///< what another node or an input gave, by name
    list,         ///< several, nested where the file has lists of lists
    graph,        ///< a part of the program that a node may run
    device,       ///< some device; a program runs on its model's
    unsupported,  ///< `name` says what
  };

  Kind kind = Kind::literal;
  c10::IValue literal = {};
  std::string name = {};
  bool is_number = false;  ///< of a value: a symbolic size or another number, no tensor
  std::vector<GraphArgument> items = {};
  std::shared_ptr<const Graph> graph = nullptr;
};

struct NamedArgument {
  std::string name;  ///< of the operator's argument; empty where it has no schema
  GraphArgument value;
};

struct ProgramNode {
  std::string target;  ///< "torch.ops.aten.add.Tensor", "_operator.mul"
  std::vector<NamedArgument> inputs;
  std::vector<GraphArgument> outputs;
  std::string module;  ///< whose forward it stands in: "layer1.0.conv1"; empty for the model's own
};

/// A size of an input: a number, or an expression of symbols as sympy writes it.
struct GraphSize {
  std::optional<std::int64_t> number = {};
  std::string expression = {};
};

struct TensorMeta {
  at::ScalarType type;
  std::vector<GraphSize> sizes;
};

struct Graph {
  std::vector<GraphArgument> inputs;
  std::vector<GraphArgument> outputs;
  std::vector<ProgramNode> nodes;
  std::map<std::string, TensorMeta> tensors;  ///< of inputs and outputs
};

/// What an input of the whole graph stands for.
struct InputSpec {
  enum class Kind { user, parameter, buffer, constant, literal };

  Kind kind;
  std::string name;         ///< in the graph
  std::string target = {};  ///< parameter, buffer or constant: its name in the state dict
  bool persistent = true;   ///< of a buffer: it is in the state dict
  bool is_number = false;   ///< of the user's: a whole number
};

/// Inclusive; nothing where there is no limit.
struct SymbolRange {
  std::optional<std::int64_t> least = {};
  std::optional<std::int64_t> most = {};
};

/// A whole program.
struct GraphProgram {
  Graph graph;
  std::vector<InputSpec> inputs;
  std::vector<std::string> output_names;
  std::map<std::string, SymbolRange> symbols;
  std::string torch_version;
};

}  // namespace pagoda
