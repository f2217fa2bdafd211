#pragma once

#include <pagoda/data/feed_stream.h>
#include <pagoda/tower/tower_group.h>

#include <cstddef>
#include <memory>

namespace pagoda::detail {

/// A feed's tensor in memory from which cards copy without blocking, and on its way to the card of
/// the tower that computes feed `feed`.
at::Tensor pinned_for_card(const Replicas& replicas, const at::Tensor& tensor, std::size_t feed);
at::Tensor sent_to_card(const Replicas& replicas, const at::Tensor& tensor, std::size_t feed);

/// Whether there is anything to bring closer: a tower on a card.
bool has_cards(const Replicas& replicas);

/// Begins to copy the feeds of the step after this one to the towers' cards, so that they arrive
/// while this one is computed; from the first call on, the stream's feeds are made in pinned memory.
/// CPU towers read feeds where they are. Threads: the coordinating thread, which reads the stream.
template <class F>
void bring_ahead(const StepFeeds<F>& feeds, const TowerGroup& towers) {
  const std::shared_ptr<FeedsAhead<F>> ahead = feeds.ahead.lock();
  const std::shared_ptr<Replicas> replicas = towers.replicas();
  if (!ahead || !has_cards(*replicas)) return;
  ahead->change_made([replicas](const F& feed, std::size_t number) {
    return F(feed.with_tensors([&](const at::Tensor& tensor) {
      return pinned_for_card(*replicas, tensor, number);
    }));
  });
  ahead->change_next([&](const F& feed, std::size_t number) {
    return F(feed.with_tensors([&](const at::Tensor& tensor) {
      return sent_to_card(*replicas, tensor, number);
    }));
  });
}

}  // namespace pagoda::detail
