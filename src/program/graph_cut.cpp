#include "program/graph_cut.h"

#include <pagoda/base/error.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/quoted_text.h"

namespace pagoda {
namespace {

using ArgumentKind = GraphArgument::Kind;

bool is_inside(const std::string& module, const std::string& of) {
  return module == of || module.starts_with(of + ".");
}

/// The numbers of the first nodes of all parts.
std::vector<std::size_t> first_nodes(const Graph& graph, const std::vector<std::string>& modules) {
  std::vector<std::size_t> first{0};
  for (const std::string& module : modules) {
    const auto found =
        std::find_if(graph.nodes.begin(), graph.nodes.end(),
                     [&](const ProgramNode& node) { return is_inside(node.module, module); });
    if (found == graph.nodes.end()) {
      throw UsageError("the program cannot be cut before " + quoted_text(module) +
                       ": no operator of it belongs to such a module");
    }
    const auto number = static_cast<std::size_t>(found - graph.nodes.begin());
    if (number <= first.back()) {
      throw UsageError("the program cannot be cut before " + quoted_text(module) +
                       ": there is nothing between it and the cut before");
    }
    first.push_back(number);
  }
  return first;
}

template <class Use>
void visit_values(const GraphArgument& argument, Use use) {
  if (argument.kind == ArgumentKind::value) use(argument);
  for (const GraphArgument& item : argument.items) visit_values(item, use);
}

/// Cuts one graph into parts, from the last to the first.
class GraphCut {
 public:
  GraphCut(const Graph& graph, const std::vector<InputSource>& sources) : graph_(graph) {
    for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
      const GraphArgument& input = graph.inputs[i];
      if (input.kind != ArgumentKind::value) continue;
      const bool is_user = sources[i].kind == InputSource::Kind::user ||
                           sources[i].kind == InputSource::Kind::number;
      if (is_user)
        users_.push_back(input);
      else
        own_.emplace(input.name, sources[i]);
    }
  }

  /// The nodes from `begin` to `end`, which give `outputs`.
  GraphPart part(std::string name, std::size_t begin, std::size_t end,
                 std::vector<GraphArgument> outputs) const {
    GraphPart part{.name = std::move(name), .graph = {}, .sources = {}};
    part.graph.nodes.assign(graph_.nodes.begin() + static_cast<std::ptrdiff_t>(begin),
                            graph_.nodes.begin() + static_cast<std::ptrdiff_t>(end));
    part.graph.outputs = std::move(outputs);
    std::set<std::string> made;
    for (const ProgramNode& node : part.graph.nodes)
      for (const GraphArgument& output : node.outputs)
        visit_values(output, [&](const GraphArgument& value) { made.insert(value.name); });
    std::vector<GraphArgument> taken = begin == 0 ? users_ : std::vector<GraphArgument>{};
    std::set<std::string> known = made;
    for (const GraphArgument& input : taken) known.insert(input.name);
    std::vector<GraphArgument> own;
    const auto need = [&](const GraphArgument& value) {
      if (!known.insert(value.name).second) return;
      (own_.count(value.name) != 0 ? own : taken).push_back(value);
    };
    for (const ProgramNode& node : part.graph.nodes)
      for (const NamedArgument& input : node.inputs) visit_values(input.value, need);
    for (const GraphArgument& output : part.graph.outputs) visit_values(output, need);
    add_inputs(part, taken, own);
    return part;
  }

  /// What a part takes of the one before.
  static std::vector<GraphArgument> taken_by(const GraphPart& part) {
    std::vector<GraphArgument> taken;
    for (std::size_t i = 0; i < part.sources.size(); ++i) {
      const bool is_taken = part.sources[i].kind == InputSource::Kind::user ||
                            part.sources[i].kind == InputSource::Kind::number;
      if (is_taken) taken.push_back(part.graph.inputs[i]);
    }
    return taken;
  }

 private:
  void add_inputs(GraphPart& part, const std::vector<GraphArgument>& taken,
                  const std::vector<GraphArgument>& own) const {
    for (std::size_t i = 0; i < taken.size(); ++i) {
      part.graph.inputs.push_back(taken[i]);
      part.sources.push_back(
          {taken[i].is_number ? InputSource::Kind::number : InputSource::Kind::user, i});
    }
    for (const GraphArgument& value : own) {
      part.graph.inputs.push_back(value);
      part.sources.push_back(own_.at(value.name));
    }
  }

  const Graph& graph_;
  std::vector<GraphArgument> users_;
  std::map<std::string, InputSource> own_;
};

}  // namespace

std::vector<GraphPart> cut_graph(const Graph& graph, const std::vector<InputSource>& sources,
                                 const std::vector<std::string>& modules) {
  const std::vector<std::size_t> first = first_nodes(graph, modules);
  const GraphCut cut(graph, sources);
  std::vector<GraphPart> parts;
  std::vector<GraphArgument> outputs = graph.outputs;
  for (std::size_t i = first.size(); i-- > 0;) {
    const std::size_t end = i + 1 < first.size() ? first[i + 1] : graph.nodes.size();
    parts.push_back(cut.part(i == 0 ? "input" : modules[i - 1], first[i], end, outputs));
    outputs = GraphCut::taken_by(parts.back());
  }
  std::reverse(parts.begin(), parts.end());
  return parts;
}

}  // namespace pagoda
