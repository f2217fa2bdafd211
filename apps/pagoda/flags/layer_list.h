#pragma once

#include <string>
#include <vector>

namespace pagoda::app {

/// The layers of each stage that "2,1,3" names. Fails: UsageError for anything but whole numbers
/// with commas in between.
std::vector<int> parse_layers(const std::string& text);

}  // namespace pagoda::app
