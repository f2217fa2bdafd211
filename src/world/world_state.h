#pragma once

#include <pagoda/base/stopwatch.h>
#include <pagoda/world/world.h>

#include <mutex>
#include <optional>
#include <utility>

#include "world/connection.h"
#include "world/heartbeat.h"

namespace pagoda {

using WorkPointer = c10::intrusive_ptr<c10d::Work>;

/// What a World has: its connections, and how an exchange begins, waits and fails.
struct World::State {
  WorldPlace place;
  WorldOptions options;
  StorePointer store;
  std::string address;
  std::string prefix = {};
  std::vector<std::string> hosts = {};
  c10::intrusive_ptr<Group> group = {};
  std::unique_ptr<Heartbeat> heartbeat = {};
  std::mutex mutex = {};  // for what follows, which swaps of other threads change
  std::optional<std::string> failure = std::nullopt;
  std::vector<WorkPointer> under_way = {};  // of swaps
  WorldTraffic traffic = {};
  int asked_stop = 0;
  int agreed_stop = 0;

  void meet();
  void leave();

  /// Runs an exchange that gives so many bytes of this rank; `start` begins it.
  template <class Start>
  void exchange(const char* name, std::int64_t bytes, Start start);

  void count_waiting(double seconds) {
    const std::lock_guard lock(mutex);
    traffic.seconds += seconds;
  }

  /// Begins work that gives so many bytes. Fails: WorldError once the world has failed.
  template <class Start>
  auto begin(const char* name, std::int64_t bytes, Start start);

  /// Nothing can be exchanged any more, because of this error in an exchange of that name.
  [[noreturn]] void lose(const char* name, const std::exception& error);
  void close(std::string reason);

  /// Whether this rank knows of a failure, or the store does.
  bool is_failing() noexcept;

  /// Leaves the others word of this rank's failure, unless the world has failed before.
  void tell(const std::string& reason) noexcept;

  std::string name_of(int rank) const {
    return "rank " + std::to_string(rank) + " (" + hosts[static_cast<std::size_t>(rank)] + ")";
  }
  std::string store_text() const {
    return "the store at " + place.master + ":" + std::to_string(place.port) +
           " is gone or does not answer: " + name_of(0) +
           " or its launcher has ended or is frozen, or the network to it is cut";
  }
  std::string explain(const char* exchange, const std::exception& error);
  std::string who_failed(const std::string& own_view);
};

template <class Start>
auto World::State::begin(const char* name, std::int64_t bytes, Start start) {
  if (heartbeat && heartbeat->is_lost()) close(store_text());
  try {
    const std::lock_guard lock(mutex);
    if (!failure) {
      ++traffic.exchanges;
      traffic.bytes += bytes;
      return start();
    }
  } catch (const std::exception& error) {
    lose(name, error);
  }
  throw WorldError(*failure);
}

template <class Start>
void World::State::exchange(const char* name, std::int64_t bytes, Start start) {
  const auto work = begin(name, bytes, start);
  try {
    count_waiting(seconds_of([&] { work->wait(); }));
  } catch (const std::exception& error) {
    lose(name, error);
  }
}

}  // namespace pagoda
