#include <pagoda/base/error.h>
#include <pagoda/base/grouped_number.h>
#include <pagoda/base/number_text.h>
#include <pagoda/pipeline/balance.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

namespace pagoda {
namespace {

void check_count(int layers, int stages) {
  if (stages < 1)
    throw UsageError("the number of stages is " + std::to_string(stages) +
                     "; it must be at least 1");
  if (stages > layers) {
    throw UsageError("a model of " + counted(layers, "layer") + " has too few for " +
                     counted(stages, "stage") + "; give at most one stage for a layer");
  }
}

}  // namespace

std::vector<int> even_stages(int layers, int stages) {
  check_count(layers, stages);
  std::vector<int> result(static_cast<std::size_t>(stages), layers / stages);
  for (int i = 0; i < layers % stages; ++i) ++result[static_cast<std::size_t>(i)];
  return result;
}

std::vector<int> balance(const std::vector<double>& costs, int stages) {
  const auto layers = costs.size();
  check_count(static_cast<int>(layers), stages);
  std::vector<double> before(layers + 1);  // cost of the layers before each
  for (std::size_t i = 0; i < layers; ++i) {
    if (!(std::isfinite(costs[i]) && costs[i] >= 0)) {
      throw UsageError("layer " + std::to_string(i) + " costs " + number_text(costs[i]) +
                       "; a cost must be a number of at least 0");
    }
    before[i + 1] = before[i] + costs[i];
  }
  // best[end]: the most expensive stage of the best cut of the first `end` layers into `used`
  // stages.
  constexpr double kImpossible = std::numeric_limits<double>::infinity();
  std::vector<double> best(layers + 1, kImpossible);
  best[0] = 0;
  std::vector<std::vector<std::size_t>> last_begin;  // by stages used, then by end
  for (int used = 1; used <= stages; ++used) {
    std::vector<double> next(layers + 1, kImpossible);
    auto& begins = last_begin.emplace_back(layers + 1);
    for (std::size_t end = static_cast<std::size_t>(used); end <= layers; ++end) {
      for (std::size_t begin = static_cast<std::size_t>(used) - 1; begin < end; ++begin) {
        const double cost = std::max(best[begin], before[end] - before[begin]);
        if (cost > next[end] || cost == kImpossible) continue;
        next[end] = cost;
        begins[end] = begin;
      }
    }
    best = std::move(next);
  }
  std::vector<int> result(static_cast<std::size_t>(stages));
  std::size_t end = layers;
  for (auto stage = static_cast<std::size_t>(stages); stage-- > 0;) {
    const std::size_t begin = last_begin[stage][end];
    result[stage] = static_cast<int>(end - begin);
    end = begin;
  }
  return result;
}

void check_stages(const std::vector<int>& layers_per_stage, int layers) {
  check_count(layers, static_cast<int>(layers_per_stage.size()));
  for (std::size_t stage = 0; stage < layers_per_stage.size(); ++stage) {
    if (layers_per_stage[stage] < 1) {
      throw UsageError("stage " + std::to_string(stage) + " has " +
                       counted(layers_per_stage[stage], "layer") + "; give each at least 1");
    }
  }
  const int covered = std::accumulate(layers_per_stage.begin(), layers_per_stage.end(), 0);
  if (covered != layers) {
    throw UsageError("the stages have " + counted(covered, "layer") + " together, the model " +
                     "has " + std::to_string(layers) + "; every layer must be in one stage");
  }
}

}  // namespace pagoda
