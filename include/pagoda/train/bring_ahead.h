#pragma once

#include <pagoda/data/feed_stream.h>
#include <pagoda/tower/tower_group.h>

#include <cstddef>
#include <memory>

namespace pagoda::detail {

/// The tensor in pinned memory, from which a card copies without blocking, for the tower that
/// computes feed number `feed`. If no more memory can be pinned, the tensor itself.
at::Tensor pinned_for_card(const Replicas& replicas, const at::Tensor& tensor, std::size_t feed);
/// The tensor on its way to the card of the tower that computes feed number `feed`. If the card has
/// no room for it yet, the tensor itself.
at::Tensor sent_to_card(const Replicas& replicas, const at::Tensor& tensor, std::size_t feed);

/// Whether any tower is on a card, so that feeds can be brought closer to it.
bool has_cards(const Replicas& replicas);

/// Starts copying the next step's feeds to the towers' cards, so that they arrive while the current
/// step is computed; from the first call on, the stream makes its feeds in pinned memory. CPU
/// towers read feeds in place. Threads: the coordinating thread, which reads the stream.
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
