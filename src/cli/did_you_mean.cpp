#include "cli/did_you_mean.h"

#include <algorithm>
#include <cstddef>

namespace pagoda {
namespace {

/// The optimal string alignment distance: changes of single letters and swaps of neighbours that turn
/// one word into the other.
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> changes(a.size() + 1,
                                                std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      std::size_t& best = changes[i][j];
      best = std::max(i, j);
      if (i == 0 || j == 0) continue;
      best = std::min({changes[i - 1][j] + 1, changes[i][j - 1] + 1,
                       changes[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        best = std::min(best, changes[i - 2][j - 2] + 1);
    }
  }
  return changes[a.size()][b.size()];
}

}  // namespace

std::string nearest_word(const std::string& word, const std::vector<std::string>& candidates) {
  std::string nearest;
  std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t changes = distance(word, candidate);
    if (changes >= least) continue;
    least = changes;
    nearest = candidate;
  }
  return nearest;
}

}  // namespace pagoda
