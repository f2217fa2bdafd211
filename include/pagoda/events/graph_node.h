#pragma once

#include <string>
#include <utility>
#include <vector>

namespace pagoda {

/// One box in TensorBoard's Graphs tab: a layer, an operation, a parameter. A plain value.
///
/// Example:
///     std::vector<GraphNode> nodes{
///         {.name = "images", .op = "Input"},
///         {.name = "features/conv1", .op = "Conv2d", .inputs = {"images"},
///          .attributes = {{"kernel_size", "5x5"}}}};
struct GraphNode {
  std::string name;  ///< unique; each `/` opens a level that can be folded
  std::string op;    ///< the kind: Conv2d, Linear, …

  /// Names of the nodes that it reads; `^name` is one that only has to come before it.
  std::vector<std::string> inputs = {};
  /// Name and text, shown when the node is selected.
  std::vector<std::pair<std::string, std::string>> attributes = {};
};

}  // namespace pagoda
