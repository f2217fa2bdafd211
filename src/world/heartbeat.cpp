#include "world/heartbeat.h"

#include <pagoda/base/start_thread.h>

#include <cstdint>
#include <utility>

namespace pagoda {
namespace {

std::string beat_key(const std::string& prefix, int rank) {
  return prefix + "beat/" + std::to_string(rank);
}

}  // namespace

Heartbeat::Heartbeat(c10::intrusive_ptr<c10d::Store> store, std::string prefix, int rank)
    : store_(std::move(store)),
      thread_(start_thread("heartbeat", [this, key = beat_key(prefix, rank)] { run(key); })) {}

Heartbeat::~Heartbeat() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  ending_.notify_all();
  thread_.join();
}

void Heartbeat::run(const std::string& key) {
  std::unique_lock lock(mutex_);
  while (!ends_) {
    lock.unlock();
    try {
      store_->add(key, 1);
    } catch (const std::exception&) {
      return;  // the store is gone; the next exchange finds out
    }
    lock.lock();
    ending_.wait_for(lock, kPeriod, [this] { return ends_; });
  }
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
