#include "train/world_sum.h"

#include <pagoda/base/start_thread.h>
#include <pagoda/base/stopwatch.h>

#include <algorithm>
#include <utility>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include "base/compute_threads.h"

namespace pagoda {

/// A bucket on its way.
struct WorldSum::Journey {
  std::size_t bucket;
  std::vector<at::Tensor> received;  // by rank, as they travel
  std::unique_ptr<Swap> swap;
};

WorldSum::WorldSum(std::shared_ptr<World> world, const std::vector<NamedTensor>& parameters,
                   WireType wire, const WorldShare* owned, std::int64_t bucket_bytes)
    : world_(std::move(world)),
      wire_(wire),
      owned_(owned),
      places_(parameters.size()),
      lost_(parameters.size()) {
  for (const at::ScalarType type : {at::kFloat, at::kDouble}) cut(parameters, type, bucket_bytes);
  if (world_->size() > 1)
    thread_ = start_thread("sums over processes", [this] { add_and_return(); });
}

WorldSum::~WorldSum() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void WorldSum::cut(const std::vector<NamedTensor>& parameters, at::ScalarType type,
                   std::int64_t bucket_bytes) {
  std::int64_t elements = 0;
  for (const auto& [name, tensor] : parameters)
    elements += tensor.scalar_type() == type ? tensor.numel() : 0;
  if (elements == 0) return;
  const at::Tensor flat = at::empty({elements}, type);
  const bool rounds = !Wire(wire_, type).is_plain();
  const at::Tensor lost = rounds ? at::zeros({elements}, type) : at::Tensor();
  const std::int64_t most = bucket_bytes / static_cast<std::int64_t>(flat.element_size());

  std::int64_t end = elements;  // of what is in no bucket yet
  std::vector<Block> blocks;
  std::int64_t filled = 0;
  const auto close = [&] {
    if (blocks.empty()) return;
    buckets_.push_back({.blocks = std::exchange(blocks, {}),
                        .values = flat.narrow(0, end, filled),
                        .lost = rounds ? lost.narrow(0, end, filled) : at::Tensor(),
                        .parts = {}});
    set_parts(buckets_.back());
    filled = 0;
  };
  for (std::size_t left = parameters.size(); left > 0; --left) {
    const at::Tensor& parameter = parameters[left - 1].tensor;
    if (parameter.scalar_type() != type || parameter.numel() == 0) continue;
    const std::int64_t count = parameter.numel();
    if (count >= most || filled >= most) close();
    const std::int64_t row = row_elements(parameter);
    const std::int64_t piece = std::max<std::int64_t>(1, most / row) * row;
    for (std::int64_t to = count; to > 0;) {
      const std::int64_t from = count >= most ? (to - 1) / piece * piece : 0;
      blocks.push_back({left - 1, from, to});
      filled += to - from;
      end -= to - from;
      if (count >= most) close();
      to = from;
    }
    places_[left - 1] = flat.as_strided(parameter.sizes(), parameter.strides(), end);
    if (rounds) lost_[left - 1] = lost.as_strided(parameter.sizes(), parameter.strides(), end);
  }
  close();
}

/// What each rank adds up of a bucket, whose blocks lie in its values from the last to the first.
void WorldSum::set_parts(Bucket& bucket) const {
  const std::int64_t count = bucket.values.numel();
  const int ranks = world_->size();
  for (int rank = 0; rank < ranks; ++rank) {
    ElementRange part{count * rank / ranks, count * (rank + 1) / ranks};
    if (owned_ != nullptr) {
      part = {};
      std::int64_t end = count;
      for (const Block& block : bucket.blocks) {
        const std::int64_t begin = end - (block.end - block.begin);
        const ElementRange& own = owned_->of(rank)[block.parameter];
        const std::int64_t from = std::max(own.begin, block.begin);
        const std::int64_t to = std::min(own.end, block.end);
        if (from < to) {
          if (part.size() == 0) part.end = begin + to - block.begin;
          part.begin = begin + from - block.begin;
        }
        end = begin;
      }
    }
    bucket.parts.push_back(part);
  }
}

at::Tensor WorldSum::part(const Bucket& bucket, const at::Tensor& values, int rank) {
  const ElementRange& range = bucket.parts[static_cast<std::size_t>(rank)];
  return values.narrow(0, range.begin, range.size());
}

void WorldSum::send(std::size_t bucket) {
  if (world_->size() == 1) return;
  try {
    leave(bucket);
  } catch (...) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::current_exception();
  }
  changed_.notify_all();
}

void WorldSum::leave(std::size_t bucket) {
  at::NoGradGuard no_grad;
  const Bucket& own = buckets_[bucket];
  const Wire wire(wire_, own.values.scalar_type());
  const std::int64_t count = part(own, own.values, world_->rank()).numel();
  std::vector<at::Tensor> sent;
  Journey journey{.bucket = bucket, .received = {}, .swap = nullptr};
  for (int rank = 0; rank < world_->size(); ++rank) {
    const bool other = rank != world_->rank();
    sent.push_back(part(own, own.values, rank));
    if (!wire.is_plain() && other) {
      const at::Tensor values = std::exchange(sent.back(), wire.room(sent.back().numel()));
      wire.encode(values, part(own, own.lost, rank), sent.back());
    }
    journey.received.push_back(other ? wire.room(count) : at::Tensor());
  }
  journey.swap = world_->start_swap(2 * static_cast<int>(bucket), sent, journey.received);
  const std::lock_guard lock(mutex_);
  leaving_.push_back(std::move(journey));
  ++under_way_;
}

/// The others' parts are here: adds them to the own one, and sends the sum to all.
void WorldSum::add_up(Journey& journey) {
  journey.swap->wait();
  const Bucket& own = buckets_[journey.bucket];
  const Wire wire(wire_, own.values.scalar_type());
  const at::Tensor values = part(own, own.values, world_->rank());
  at::Tensor sum;
  for (int rank = 0; rank < world_->size(); ++rank) {
    const at::Tensor& message = journey.received[static_cast<std::size_t>(rank)];
    const at::Tensor one = rank == world_->rank() ? values : wire.decoded(message);
    sum = rank == 0 ? one : rank == 1 ? sum + one : sum.add_(one);
  }
  if (owned_ != nullptr) {
    values.copy_(sum);
    journey.swap = nullptr;
    return;
  }
  std::vector<at::Tensor> room;
  if (wire.is_plain()) {
    values.copy_(sum);
    for (int rank = 0; rank < world_->size(); ++rank) room.push_back(part(own, own.values, rank));
    journey.received.assign(room.size(), values);  // to be sent
  } else {
    const at::Tensor message = wire.room(values.numel());
    wire.encode(sum, part(own, own.lost, world_->rank()), message);
    values.copy_(wire.decoded(message));
    for (int rank = 0; rank < world_->size(); ++rank)
      room.push_back(wire.room(part(own, own.values, rank).numel()));
    journey.received.assign(room.size(), message);
  }
  journey.swap =
      world_->start_swap(2 * static_cast<int>(journey.bucket) + 1, journey.received, room);
  journey.received = std::move(room);
}

/// All sums are here.
void WorldSum::arrive(Journey& journey) {
  if (!journey.swap) return;  // each keeps its own
  journey.swap->wait();
  const Bucket& own = buckets_[journey.bucket];
  const Wire wire(wire_, own.values.scalar_type());
  if (wire.is_plain()) return;  // each came to its place
  for (int rank = 0; rank < world_->size(); ++rank) {
    if (rank != world_->rank())
      part(own, own.values, rank)
          .copy_(wire.decoded(journey.received[static_cast<std::size_t>(rank)]));
  }
}

/// The thread's work.
void WorldSum::add_and_return() {
  set_compute_threads(1);  // the towers have the cores
  at::NoGradGuard no_grad;
  std::deque<Journey> returning;  // sums come in
  std::unique_lock lock(mutex_);
  while (!ends_) {
    if (leaving_.empty() && returning.empty()) {
      changed_.wait(lock);
      continue;
    }
    const bool adds = !leaving_.empty();
    Journey journey = std::move(adds ? leaving_.front() : returning.front());
    (adds ? leaving_ : returning).pop_front();
    lock.unlock();
    std::exception_ptr failure;
    try {
      adds ? add_up(journey) : arrive(journey);
    } catch (...) {
      failure = std::current_exception();
    }
    if (adds && !failure) {
      returning.push_back(std::move(journey));
      lock.lock();
      continue;
    }
    journey.swap.reset();
    lock.lock();
    if (failure && !failure_) failure_ = failure;
    --under_way_;
    changed_.notify_all();
  }
}

void WorldSum::finish() {
  const Stopwatch watch;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return under_way_ == 0 || failure_; });
  world_->count_waiting(watch.seconds());
  if (failure_) std::rethrow_exception(failure_);
}

}  // namespace pagoda
