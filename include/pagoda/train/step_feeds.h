#pragma once

#include <pagoda/data/feed_stream.h>
#include <pagoda/tower/tower_job.h>
#include <pagoda/train/scored.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace pagoda {

/// Which of `feeds` feeds belong to the tower: feed f goes to tower f mod N. With more feeds than
/// towers, gradients accumulate; with fewer, some towers have no work.
std::vector<std::size_t> feeds_of(int tower, int towers, std::size_t feeds);

namespace detail {

/// What a step knows about a feed before it is computed.
struct FeedInfo {
  double weight;
  std::vector<std::int64_t> samples;
  std::int64_t smallest_feed = 0;  ///< samples of the smallest feed of an epoch; 0: unknown
};

template <Feed F>
std::vector<FeedInfo> infos_of(const std::vector<F>& feeds) {
  std::vector<FeedInfo> infos;
  for (const F& feed : feeds) infos.push_back({feed.weight(), feed.sample_numbers()});
  return infos;
}

template <Feed F>
std::vector<FeedInfo> infos_of(const StepFeeds<F>& feeds) {
  std::vector<FeedInfo> infos = infos_of<F>(static_cast<const std::vector<F>&>(feeds));
  for (FeedInfo& info : infos) info.smallest_feed = feeds.smallest_feed;
  return infos;
}

/// A feed and its share of the whole batch, times the loss scale: what its backward starts from.
struct FeedShare {
  std::size_t feed;
  double share;
};

/// Computes these feeds forward and backward on the job's tower.
using Compute =
    std::function<std::vector<FeedScore>(const std::vector<FeedShare>& feeds, TowerJob& job)>;

/// Computes feed `feed` on the job's tower up to its loss.
using Forward = std::function<Scored(std::size_t feed, TowerJob& job)>;

}  // namespace detail
}  // namespace pagoda
