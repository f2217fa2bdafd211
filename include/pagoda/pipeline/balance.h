#pragma once

#include <vector>

namespace pagoda {

/// Layers of each stage when so many layers are dealt out evenly; the first stages get one more.
/// Fails: UsageError for more stages than layers, or none.
std::vector<int> even_stages(int layers, int stages);

/// Layers of each stage, in order, such that the most expensive stage costs as little as possible:
/// the others wait for it. Exact; among equally good cuts the one whose last stages are cheapest.
/// `costs` are those of the layers (seconds, bytes: see measure_layers), none negative.
/// Fails: UsageError for more stages than layers, or a cost that is negative or not finite.
///
/// Example: `balance({1, 1, 1, 3}, 2)` is {3, 1}.
std::vector<int> balance(const std::vector<double>& costs, int stages);

/// Fails: UsageError unless the stages have at least one layer each and cover all layers.
void check_stages(const std::vector<int>& layers_per_stage, int layers);

}  // namespace pagoda
