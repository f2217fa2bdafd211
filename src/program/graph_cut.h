#pragma once

#include <string>
#include <vector>

#include "program/graph.h"
#include "program/input_source.h"

namespace pagoda {

/// A part of a graph between two cuts. It takes what the part before gives, its own parameters and
/// constants, and gives what later parts need.
struct GraphPart {
  std::string name;
  Graph graph;
  std::vector<InputSource> sources;  ///< of its inputs; the user's are what the part before gives
};

/// Cuts a graph before the first operator of each of these modules, which must be in their order.
/// `sources` are those of the whole graph's inputs.
/// Fails: UsageError for a module that has no operator, or stands before an earlier one.
std::vector<GraphPart> cut_graph(const Graph& graph, const std::vector<InputSource>& sources,
                                 const std::vector<std::string>& modules);

}  // namespace pagoda
