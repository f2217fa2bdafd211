#include "sim/sim_streams.h"

#include <pagoda/sim/sim_cards.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include <ATen/SparseTensorImpl.h>

#include "sim/sim_access.h"
#include "sim/sim_card.h"
#include "sim/sim_memory.h"

namespace pagoda {
namespace {

/// Something that a stream does later: work of its own, or waiting for another stream.
struct Late {
  std::int64_t count;  // its place in the stream
  SimTime ready;
  std::function<void()> work;  // empty: waits for `other`
  SimMoment other = {};
};

struct StreamState {
  std::int64_t count = 0;  // operations and waits so far
  SimClock known;          // what it has waited for
  std::deque<Late> late;
};

/// The streams of all cards. One mutex for all: events tie them together, and what happens under it
/// is short.
struct Streams {
  std::mutex mutex;
  std::array<std::array<StreamState, kSimStreamPool + 1>, kMostSimCards> all;
  SimClock done;  // what the host has waited for
};

Streams& streams() {
  static auto& all = *new Streams;  // tensors may outlive every owner that we could name
  return all;
}

StreamState& state_of(const SimStream& stream) {
  return streams().all.at(static_cast<std::size_t>(stream.card))
      .at(static_cast<std::size_t>(stream.number));
}

thread_local std::array<int, kMostSimCards> current_numbers = {};

/// When all that the moment comes after can be done.
SimTime ready_time(const SimMoment& moment) {
  SimTime ready = {};
  for (const Late& one : state_of(moment.stream).late) {
    if (one.count > moment.count) break;
    ready = std::max(ready, one.work ? one.ready : ready_time(one.other));
  }
  return ready;
}

void do_until(const SimMoment& moment) {
  auto& late = state_of(moment.stream).late;
  while (!late.empty() && late.front().count <= moment.count) {
    const Late next = std::move(late.front());
    late.pop_front();
    if (next.work) {
      next.work();
    } else {
      do_until(next.other);
    }
  }
}

/// Sleeps, without the lock, as long as it takes.
void wait_until(std::unique_lock<std::mutex>& lock, const SimMoment& moment) {
  while (true) {
    const SimTime ready = ready_time(moment);
    if (ready <= std::chrono::steady_clock::now()) break;
    lock.unlock();
    std::this_thread::sleep_until(ready);
    lock.lock();
  }
  do_until(moment);
}

SimEvent event_of(const SimStream& stream) {
  const StreamState& state = state_of(stream);
  SimEvent event{{stream, state.count}, state.known};
  event.known.advance(event.moment);
  return event;
}

void synchronise_locked(std::unique_lock<std::mutex>& lock, const SimEvent& event) {
  wait_until(lock, event.moment);
  streams().done.merge(event.known);
}

/// What a stream's next operation comes after.
SimKnown known_to(const SimStream& stream) { return {state_of(stream).known, streams().done}; }

template <class Visit>
void each_access(const at::Tensor& tensor, Visit visit) {
  if (!tensor.defined() || !tensor.is_privateuseone()) return;
  if (tensor.is_sparse()) {
    const auto* sparse = static_cast<at::SparseTensorImpl*>(tensor.unsafeGetTensorImpl());
    each_access(sparse->indices(), visit);
    each_access(sparse->values(), visit);
  } else if (SimAccess* access = access_of(tensor.storage())) {
    visit(*access);
  }
}

}  // namespace

SimStream current_sim_stream(int card) {
  return {card, current_numbers.at(static_cast<std::size_t>(card))};
}

SimStream exchange_sim_stream(const SimStream& stream) {
  int& number = current_numbers.at(static_cast<std::size_t>(stream.card));
  return {stream.card, std::exchange(number, stream.number)};
}

SimStream next_sim_stream(int card) {
  static std::atomic<int> next = 0;
  return {card, 1 + next++ % kSimStreamPool};
}

SimEvent record_sim_event(const SimStream& stream) {
  const std::lock_guard lock(streams().mutex);
  return event_of(stream);
}

/// The wait has a place of its own: events that were recorded before do not come after it, so two
/// streams that wait for each other's earlier work do not wait in a circle.
void block_sim_stream(const SimStream& stream, const SimEvent& event) {
  const std::lock_guard lock(streams().mutex);
  StreamState& state = state_of(stream);
  state.known.merge(event.known);
  if (!state_of(event.moment.stream).late.empty() && event.moment.stream != stream)
    state.late.push_back({.count = ++state.count, .ready = {}, .work = {}, .other = event.moment});
}

void synchronise(const SimEvent& event) {
  std::unique_lock lock(streams().mutex);
  synchronise_locked(lock, event);
}

void synchronise(const SimStream& stream) {
  std::unique_lock lock(streams().mutex);
  synchronise_locked(lock, event_of(stream));
}

void synchronise_sim_card(int card) {
  for (int number = 0; number <= kSimStreamPool; ++number) synchronise(SimStream{card, number});
}

bool is_done(const SimEvent& event) {
  {
    const std::lock_guard lock(streams().mutex);
    if (ready_time(event.moment) > std::chrono::steady_clock::now()) return false;
  }
  synchronise(event);
  return true;
}

bool is_done(const SimStream& stream) { return is_done(record_sim_event(stream)); }

SimOperation::SimOperation(std::string what, int card)
    : what_(std::move(what)), stream_(current_sim_stream(card)) {}

void SimOperation::reads(const at::Tensor& tensor) { uses_.push_back({tensor, false}); }

void SimOperation::writes(const at::Tensor& tensor) { uses_.push_back({tensor, true}); }

void SimOperation::note_uses() {
  moment_ = {stream_, ++state_of(stream_).count};
  if (!sim_cards_are_strict()) return;
  const SimKnown known = known_to(stream_);
  for (const auto& [tensor, writes] : uses_) {
    each_access(tensor, [&](SimAccess& access) {
      writes ? access.write(what_, moment_, known) : access.read(what_, moment_, known);
    });
  }
}

void SimOperation::begin() {
  std::unique_lock lock(streams().mutex);
  note_uses();
  wait_until(lock, moment_);
}

void SimOperation::begin_late(SimTime ready, std::function<void()> work) {
  std::unique_lock lock(streams().mutex);
  note_uses();
  state_of(stream_).late.push_back({moment_.count, ready, std::move(work)});
}

void SimOperation::made(const at::Tensor& tensor) {
  if (!sim_cards_are_strict()) return;
  const std::lock_guard lock(streams().mutex);
  std::set<const SimAccess*> given;
  for (const Use& use : uses_)
    each_access(use.tensor, [&](const SimAccess& access) { given.insert(&access); });
  each_access(tensor, [&](SimAccess& access) {
    if (!given.contains(&access)) access.write(what_, moment_, known_to(stream_));
  });
}

void SimOperation::finish() { synchronise(stream_); }

SimMoment sim_allocation(int card) {
  const SimStream stream = current_sim_stream(card);
  const std::lock_guard lock(streams().mutex);
  return {stream, state_of(stream).count};
}

void note_freed(const SimAccess& access) {
  if (!sim_cards_are_strict()) return;
  std::string error;
  {
    const std::lock_guard lock(streams().mutex);
    error = access.freed(known_to(access.home()));
  }
  if (!error.empty()) sim_card(access.home().card).fail_next_operation(std::move(error));
}

void record_sim_stream(SimAccess& access, const SimStream& stream) {
  const std::lock_guard lock(streams().mutex);
  access.record(stream);
}

}  // namespace pagoda
