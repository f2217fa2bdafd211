#include "run/initial_weights.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

namespace pagoda {
namespace {

/// "fc.bias, fc.weight and 3 more".
std::string first_names(const std::vector<std::string>& names) {
  constexpr std::size_t kMostNames = 5;
  const std::size_t shown = std::min(names.size(), kMostNames);
  std::string list;
  for (std::size_t i = 0; i < shown; ++i) list += (i == 0 ? "" : ", ") + names[i];
  if (shown < names.size()) list += " and " + std::to_string(names.size() - shown) + " more";
  return list;
}

}  // namespace

bool begins_anew(const RunOptions& options) {
  if (options.out.empty() || options.dry_run || options.overwrite) return true;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(
           std::filesystem::path(options.out) / "checkpoints", none)) {
    if (entry.path().extension() == ".pt") return false;
  }
  return true;
}

std::string initial_weights_text(const std::string& file, const LoadResult& loaded) {
  std::string text = "it begins with the weights of " + file;
  if (!loaded.missing.empty())
    text += "; not in it, so with initial values: " + first_names(loaded.missing);
  if (!loaded.unexpected.empty()) text += "; not taken from it: " + first_names(loaded.unexpected);
  return text;
}

}  // namespace pagoda
