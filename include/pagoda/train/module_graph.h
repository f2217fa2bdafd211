#pragma once

#include <pagoda/events/graph_node.h>

#include <vector>

namespace torch::nn {
class Module;
}

namespace pagoda {

/// The tree of a model's modules for TensorBoard's Graphs tab. Each module is a level that can be
/// collapsed. It has a box for each parameter and buffer that the module owns, which shows type and
/// shape when selected, and a box for the module itself if it owns any or has no submodules. How
/// modules feed each other is known only to the model's own code, and is not shown.
///
/// Example: `events.graph(module_graph(towers.module(0)));`
std::vector<GraphNode> module_graph(const torch::nn::Module& module);

}  // namespace pagoda
