#include <pagoda/run/feed_source.h>

#include <algorithm>
#include <limits>

namespace pagoda::detail {

BatchesOptions run_batches(const RunOptions& options, int towers) {
  BatchesOptions batches{.batch_size = feed_size(options, towers),
                         .feeds_per_tower = feeds_per_tower(options),
                         .seed = options.seed,
                         .drop_last = options.drop_last,
                         .loader_threads = options.loader_threads};
  if (options.overfit_batches > 0) {
    const std::int64_t step = batches.batch_size * batches.feeds_per_tower * towers;
    const std::int64_t most = std::numeric_limits<std::int64_t>::max() / step;
    batches.first_samples = std::min(options.overfit_batches, most) * step;
  }
  return batches;
}

std::string batches_text(std::int64_t tower_samples, std::int64_t step_samples) {
  return "batch " + std::to_string(tower_samples) + " a tower, " + std::to_string(step_samples) +
         " a step";
}

}  // namespace pagoda::detail
