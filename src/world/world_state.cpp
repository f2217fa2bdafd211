#define USE_C10D_GLOO  // LibTorch was built with it

#include "world/world_state.h"

#include <thread>

#include <torch/csrc/distributed/c10d/PrefixStore.hpp>

#include "base/failing_writes.h"
#include "world/gathering.h"
#include "world/route.h"

namespace pagoda {
namespace {

constexpr auto kLeaveTime = std::chrono::seconds(10);
constexpr auto kLastWordsTime = std::chrono::seconds(5);  // to ask the store after a failure

}  // namespace

void World::State::meet() {
  ignore_broken_pipes();  // c10d writes to connections whose other side may be gone
  const Gathered gathered = gather_ranks(*store, place, host_name(), options.join_timeout);
  prefix = gathered.prefix;
  hosts = gathered.hosts;
  group = connect(c10::make_intrusive<c10d::PrefixStore>(prefix + "gloo", store), place, address,
                  options.join_timeout, name_of(place.rank));
  group->setTimeout(options.timeout);
  heartbeat = std::make_unique<Heartbeat>(store->clone(), prefix, place.rank);
}

void World::State::lose(const char* name, const std::exception& error) {
  std::optional<std::string> known;
  {
    const std::lock_guard lock(mutex);
    known = failure;
  }
  if (!known) close(explain(name, error));
  throw WorldError(*failure);
}

/// The first reason counts. Whoever waits for a swap goes on.
void World::State::close(std::string reason) {
  std::vector<WorkPointer> waiting;
  c10::intrusive_ptr<Group> closing;
  {
    const std::lock_guard lock(mutex);
    if (failure) return;
    failure = std::move(reason);
    waiting = std::move(under_way);
    closing = std::move(group);
  }
  for (const WorkPointer& work : waiting) work->abort();
}

std::string World::State::explain(const char* exchange, const std::exception& error) {
  const std::string own_view = first_line(error);
  try {
    store->setTimeout(kLastWordsTime);
    store->add(prefix + "left", 1);  // nobody needs to wait for this one
    return who_failed("'" + std::string(exchange) + "' failed at " + name_of(place.rank) + ": " +
                      own_view);
  } catch (const std::exception&) {
    return store_text();
  }
}

/// The failure that a rank has reported; else who is silent; else how it looks from here.
std::string World::State::who_failed(const std::string& own_view) {
  const std::string key = prefix + "failure";
  if (store->check({key})) return store->get_to_str(key);
  const std::vector<int> silent = Heartbeat::silent(*store, prefix, place.size);
  if (store->check({key})) return store->get_to_str(key);
  if (silent.empty())
    return own_view + "; all processes are alive: the network between them failed";
  std::string names;
  for (const int rank : silent) names += (names.empty() ? "" : ", ") + name_of(rank);
  const std::string text = names + (silent.size() == 1 ? " is" : " are") + " gone or " +
                           (silent.size() == 1 ? "does" : "do") + " not answer";
  store->set(key, text);  // whoever asks later would miss those, too, that have ended because of it
  return text;
}

/// Nobody closes connections that others still use, nor the store.
void World::State::leave() {
  if (failure || !group) return;
  const auto end = std::chrono::steady_clock::now() + kLeaveTime;
  try {
    store->add(prefix + "left", 1);
    while (store->add(prefix + "left", 0) < place.size && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    store->add(prefix + "gone", 1);
    const bool serves = place.rank == 0 && !place.launcher_serves;
    while (serves && store->add(prefix + "gone", 0) < place.size &&
           std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
  } catch (const std::exception&) {  // the store is gone: so are the others
  }
}

bool World::State::is_failing() noexcept {
  {
    const std::lock_guard lock(mutex);
    if (failure) return true;
  }
  try {
    return (heartbeat && heartbeat->is_lost()) || store->check({prefix + "failure"});
  } catch (const std::exception&) {
    return true;  // the store is gone
  }
}

void World::State::tell(const std::string& reason) noexcept {
  try {
    {
      const std::lock_guard lock(mutex);
      if (failure) return;
    }
    store->setTimeout(kLastWordsTime);
    const std::string key = prefix + "failure";
    if (!store->check({key})) store->set(key, reason);
    store->add(prefix + "left", 1);  // nobody needs to wait for this one
  } catch (const std::exception&) {  // the store is gone, and the others find out by themselves
  }
}

}  // namespace pagoda
