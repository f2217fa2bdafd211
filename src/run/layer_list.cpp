#include "run/layer_list.h"

#include <pagoda/base/error.h>

#include <charconv>

namespace pagoda {

std::vector<int> parse_layers(const std::string& text) {
  std::vector<int> layers;
  const char* next = text.data();
  const char* end = next + text.size();
  while (true) {
    int number = 0;
    const auto [stopped, error] = std::from_chars(next, end, number);
    const bool is_over = stopped == end;
    if (error != std::errc{} || (!is_over && *stopped != ','))
      throw UsageError("'" + text + "' is not a list of the layers of each stage, such as 2,2");
    layers.push_back(number);
    if (is_over) return layers;
    next = stopped + 1;
  }
}

std::string layers_text(const std::vector<int>& layers) {
  std::string text;
  for (const int number : layers) text += (text.empty() ? "" : ",") + std::to_string(number);
  return text;
}

}  // namespace pagoda
