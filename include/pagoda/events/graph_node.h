#pragma once

#include <string>
#include <utility>
#include <vector>

namespace pagoda {

/// One box in TensorBoard's Graphs tab: a layer, an operation or a parameter. A plain value.
///
/// Example:
///     std::vector<GraphNode> nodes{
///         {.name = "images", .op = "Input"},
///         {.name = "features/conv1", .op = "Conv2d", .inputs = {"images"},
///          .attributes = {{"kernel_size", "5x5"}}}};
struct GraphNode {
  std::string name;  ///< unique; each `/` begins a level that can be collapsed
  std::string op;    ///< the kind: Conv2d, Linear, …

  /// Names of the nodes that this one reads; `^name` is a control dependency, which only has to run
  /// before it.
  std::vector<std::string> inputs = {};
  /// Names and values, shown when the node is selected.
  std::vector<std::pair<std::string, std::string>> attributes = {};
};

}  // namespace pagoda
