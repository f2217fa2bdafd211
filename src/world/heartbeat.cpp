#include "world/heartbeat.h"

#include <pagoda/base/start_thread.h>

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <utility>

namespace pagoda {
namespace {

std::string beat_key(const std::string& prefix, int rank) {
  return prefix + "beat/" + std::to_string(rank);
}

}  // namespace

struct Heartbeat::Shared {
  const c10::intrusive_ptr<c10d::Store> store;
  std::mutex mutex = {};
  std::condition_variable changed = {};
  bool ends = false;
  bool has_ended = false;
  bool is_lost = false;

  void beat(const std::string& key);
};

/// Until it is told to end, or the store is gone.
void Heartbeat::Shared::beat(const std::string& key) {
  std::unique_lock lock(mutex);
  try {
    while (!ends) {
      lock.unlock();
      store->add(key, 1);
      lock.lock();
      changed.wait_for(lock, kPeriod, [this] { return ends; });
    }
  } catch (const std::exception&) {
    lock.lock();
    is_lost = true;
  }
  has_ended = true;
  changed.notify_all();
}

Heartbeat::Heartbeat(c10::intrusive_ptr<c10d::Store> store, std::string prefix, int rank)
    : shared_(new Shared{.store = std::move(store)}),
      thread_(start_thread(
          "heartbeat", [shared = shared_, key = beat_key(prefix, rank)] { shared->beat(key); })) {}

Heartbeat::~Heartbeat() {
  std::unique_lock lock(shared_->mutex);
  shared_->ends = true;
  shared_->changed.notify_all();
  if (shared_->changed.wait_for(lock, kPeriod, [this] { return shared_->has_ended; })) {
    lock.unlock();
    thread_.join();
  } else {
    thread_.detach();
  }
}

bool Heartbeat::is_lost() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->is_lost;
}

std::vector<int> Heartbeat::silent(c10d::Store& store, const std::string& prefix, int size) {
  constexpr int kPeriods = 4;
  std::vector<std::int64_t> first;
  for (int rank = 0; rank < size; ++rank) first.push_back(store.add(beat_key(prefix, rank), 0));
  std::this_thread::sleep_for(kPeriods * kPeriod);
  std::vector<int> silent;
  for (int rank = 0; rank < size; ++rank) {
    if (store.add(beat_key(prefix, rank), 0) == first[static_cast<std::size_t>(rank)])
      silent.push_back(rank);
  }
  return silent;
}

}  // namespace pagoda
