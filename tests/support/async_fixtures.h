#pragma once

// What the tests of asynchronous steps share.

#include <pagoda/train/async_step.h>

#include <condition_variable>
#include <mutex>
#include <string>

#include "support/golden.h"
#include "support/training_bits.h"

namespace pagoda::testing {

/// A group with its master on the host, in double precision, and what the step needs.
template <class Model>
Towers<Model> host_towers(const Machine& machine, Model (*make)()) {
  return make_towers(machine.devices(), make, {.seed = 7, .placement = ParameterPlacement::host});
}

inline Mlp make_mlp() { return in_double(Mlp()); }
inline Noisy make_noisy() { return Noisy(); }

/// Lets threads wait for numbers of events.
class Counter {
 public:
  void add() {
    {
      const std::lock_guard lock(mutex_);
      ++count_;
    }
    changed_.notify_all();
  }
  void wait_for(int count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return count_ >= count; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int count_ = 0;
};

inline bool is(const TowerJob& job, int tower, const char* phase) {
  return job.tower == tower && std::string(phase) == job.phase;
}

}  // namespace pagoda::testing
