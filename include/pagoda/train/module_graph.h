#pragma once

#include <pagoda/events/graph_node.h>

#include <vector>

namespace torch::nn {
class Module;
}

namespace pagoda {

/// The tree of a model's modules for TensorBoard's Graphs tab: each module is a level that can be
/// folded, with a box for each parameter and buffer that it owns, whose types and shapes are shown
/// when it is selected, and one for itself if it owns any or has no modules in it. How the modules
/// feed each other is only known to the model's own code, and is not shown. Example:
/// `events.graph(module_graph(towers.module(0)));`
std::vector<GraphNode> module_graph(const torch::nn::Module& module);

}  // namespace pagoda
