#pragma once

#include <pagoda/device/device_list.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace pagoda {

/// Decides, while it lives, what becomes of work that cannot be done where it was placed: an
/// operator without a kernel on a card, forward or backward, and a device that is not there.
///
/// On: the operator runs on the CPU and its results go back to the card; the device is replaced by
/// the first visible one of its kind, or by the CPU. Each is reported once. Off: a DeviceError that
/// says so. CUDA and simulated cards are served by the same code.
///
/// Threads: make and destroy it while no operator runs; one at a time. Operators of all threads are
/// served.
/// Fails: UsageError when there is another one.
///
/// Example:
///     SoftPlacement soft(SoftPlacement::Mode::on);
///     auto card = soft.device("cuda:2");        // cuda:0, or cpu:0, on a machine without it
class SoftPlacement {
 public:
  /// Whether work may go elsewhere.
  enum class Mode { off, on };

  /// `report` gets one line for everything that is moved; by default it goes to stderr.
  explicit SoftPlacement(Mode mode, std::function<void(const std::string&)> report = nullptr);
  ~SoftPlacement();
  SoftPlacement(const SoftPlacement&) = delete;
  SoftPlacement& operator=(const SoftPlacement&) = delete;

  /// The device of this name, such as "sim:2", or what stands in for it.
  /// Fails: UsageError for a text that names no device; with soft placement off also for one that
  /// is not there.
  Device device(std::string_view name);

  /// The devices that a text names, as `select_devices` does it, with those that stand in; each is
  /// there once, so there may be fewer than were named.
  /// Fails: as `device`.
  std::vector<Device> devices(std::string_view text, const DeviceOptions& options = {});

 private:
  Device replacement(const Device& missing);

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace pagoda
