#pragma once

#include <pagoda/device/device.h>

#include <functional>
#include <future>
#include <type_traits>
#include <utility>
#include <vector>

#include <ATen/ThreadLocalState.h>
#include <ATen/core/Tensor.h>

namespace pagoda {

/// A value that is still being computed. Copies share it; the last copy, when destroyed, waits for
/// the computation.
/// Fails: `get` throws what the computation threw.
template <class T>
class Later {
 public:
  explicit Later(std::shared_future<T> value) : value_(std::move(value)) {}

  /// Waits for the value.
  const T& get() const { return value_.get(); }

 private:
  std::shared_future<T> value_;  // its last copy waits for the computation
};

namespace detail {

/// Runs the work in the calling thread, once that is set up to compute on the device: pinned to a
/// CPU device's cores, or with the card as its current device.
void run_on_device(const Device& device, const at::ThreadLocalState& caller,
                   const std::function<void()>& work);

inline at::Tensor arrive(const at::Tensor& tensor, c10::Device device) {
  return tensor.defined() ? tensor.to(device) : tensor;
}
inline std::vector<at::Tensor> arrive(std::vector<at::Tensor> tensors, c10::Device device) {
  for (auto& tensor : tensors) tensor = arrive(tensor, device);
  return tensors;
}
template <class T>
auto arrive(const Later<T>& later, c10::Device device) {
  return arrive(later.get(), device);
}
template <class T>
T arrive(const T& other, c10::Device) {
  return other;
}

template <class T>
using Arrived = decltype(arrive(std::declval<const T&>(), std::declval<c10::Device>()));

template <class Fn, class... Args>
decltype(auto) call(Fn& fn, c10::Device device, Args&&... args) {
  if constexpr (std::is_invocable_v<Fn&, c10::Device, Args...>) {
    return fn(device, std::forward<Args>(args)...);
  } else {
    return fn(std::forward<Args>(args)...);
  }
}

}  // namespace detail

/// Computes `fn(args...)` on a device, in a thread of its own, and returns at once.
///
/// Values of earlier `on` calls among the arguments are waited for; tensors, and these values, are
/// moved to the device. Other arguments are passed as they are. If `fn` takes a `c10::Device`
/// first, it gets the device, to create tensors there. Gradients flow back through everything,
/// across devices. Grad mode and LibTorch's other thread-local settings are those of the caller.
///
/// Threads: any. `fn` and the arguments are copied.
/// Fails: what `fn` throws comes from `get`, and from whatever uses the value.
///
/// Example:
///     auto product = on(cards[0], [](at::Tensor a, at::Tensor b) { return a.mm(b); }, a, b);
///     auto sum = on(cards[1], [](at::Tensor a, at::Tensor b) { return a + b; }, a, b);
///     auto both = on(cpu, [](at::Tensor c, at::Tensor d) { return c + d; }, product, sum);
///     both.get().sum().backward();
template <class Fn, class... Args>
auto on(const Device& device, Fn fn, Args... args) {
  using Result = std::decay_t<decltype(detail::call(fn, device.torch_device(),
                                                    std::declval<detail::Arrived<Args>>()...))>;
  const auto compute = [device, fn, args..., caller = at::ThreadLocalState()]() mutable -> Result {
    std::packaged_task<Result()> task([&] {
      return detail::call(fn, device.torch_device(),
                          detail::arrive(args, device.torch_device())...);
    });
    auto result = task.get_future();
    detail::run_on_device(device, caller, [&] { task(); });
    return result.get();
  };
  return Later<Result>(std::async(std::launch::async, compute).share());
}

}  // namespace pagoda
