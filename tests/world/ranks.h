#pragma once

#include <pagoda/world/world.h>

#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace pagoda {

/// Runs work on so many ranks at once, each in a thread of its own.
inline void on_ranks(int size, const std::function<void(World&)>& work,
                     const WorldOptions& options = {.timeout = std::chrono::seconds(60)}) {
  std::vector<std::shared_ptr<World>> worlds = World::in_process(size, options);
  std::vector<std::thread> threads;
  for (auto& world : worlds) {
    threads.emplace_back([own = std::move(world), &work]() mutable {
      work(*own);
      own.reset();  // leaves in this thread: all ranks do that together
    });
  }
  for (std::thread& thread : threads) thread.join();
}

/// What the WorldError says; empty when there is none.
inline std::string failure_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const WorldError& error) {
    return error.what();
  }
  return "";
}

}  // namespace pagoda
