#pragma once

#include <vector>

namespace pagoda {

/// The number of layers of each stage if the layers are divided evenly; any remainder goes to the
/// first stages, one layer each.
/// Fails: UsageError for more stages than layers, or for no stages.
std::vector<int> even_stages(int layers, int stages);

/// The number of layers of each stage, in order, such that the most expensive stage is as cheap as
/// possible: the others wait for it. Exact; among equally good cuts, the one whose last stages are
/// cheapest. `costs` are those of the layers (seconds, bytes: see measure_layers).
/// Fails: UsageError for more stages than layers, for no stages, or for a cost that is negative or
/// not finite.
///
/// Example: `balance({1, 1, 1, 3}, 2)` is {3, 1}.
std::vector<int> balance(const std::vector<double>& costs, int stages);

/// Fails: UsageError unless every stage has at least one layer and together they cover all layers.
void check_stages(const std::vector<int>& layers_per_stage, int layers);

}  // namespace pagoda
