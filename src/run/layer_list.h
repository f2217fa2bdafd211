#pragma once

#include <string>
#include <vector>

namespace pagoda {

/// Reads the layers of each stage, "2,1,3". Fails: UsageError.
std::vector<int> parse_layers(const std::string& text);

/// What `parse_layers` reads; empty for none.
std::string layers_text(const std::vector<int>& layers);

}  // namespace pagoda
