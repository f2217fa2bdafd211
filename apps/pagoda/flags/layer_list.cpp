#include "flags/layer_list.h"

#include <pagoda/base/error.h>

#include <charconv>

namespace pagoda::app {

std::vector<int> parse_layers(const std::string& text) {
  std::vector<int> layers;
  const char* next = text.data();
  const char* end = next + text.size();
  while (true) {
    int number = 0;
    const auto [stopped, error] = std::from_chars(next, end, number);
    const bool is_over = stopped == end;
    if (error != std::errc{} || (!is_over && *stopped != ',')) {
      throw UsageError("--stage-layers takes the layers of each stage, such as 2,2, not '" + text +
                       "'");
    }
    layers.push_back(number);
    if (is_over) return layers;
    next = stopped + 1;
  }
}

}  // namespace pagoda::app
