#pragma once

#include <cstdint>
#include <memory>

#include <ATen/core/Generator.h>
#include <c10/core/Device.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

namespace pagoda {

/// Makes an unchanged model behave well in a tower's thread, for as long as it lives there:
///
/// - Random operations that are given no generator (dropout, initialisers, sampling) draw from the
///   tower's own, so that towers neither share a stream nor depend on each other's timing.
/// - `view` of a tensor whose layout does not allow it (channels_last images, which the engine
/// chose)
///   copies, as `reshape` does, instead of failing.
/// - BatchNorm in training takes the statistics of all towers, where a BatchNormTurn says so.
///
/// Threads: construct, use and destroy it in one thread; one at a time in each thread.
class TowerContext {
 public:
  explicit TowerContext(c10::Device device);
  ~TowerContext();
  TowerContext(const TowerContext&) = delete;
  TowerContext& operator=(const TowerContext&) = delete;

  /// Begins the random stream anew from this seed, on the CPU and on the tower's device.
  void reseed(std::uint64_t seed);

 private:
  at::Generator generator_;  // of the CPU
  at::Generator
      device_generator_;  // of the tower's device, where that is another; may be undefined
  std::unique_ptr<c10::impl::IncludeDispatchKeyGuard> intercept_;
};

/// Begins the random stream of the tower that runs in this thread anew; there must be one.
void reseed_this_tower(std::uint64_t seed);

}  // namespace pagoda
