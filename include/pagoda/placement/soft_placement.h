#pragma once

#include <pagoda/device/device_list.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace pagoda {

/// Decides, while it lives, what happens to work that cannot be done where it was placed: to an
/// operator without a kernel on its card, forward or backward, and to a device that does not exist.
///
/// On: the operator runs on the CPU and its results go back to the card; the device is replaced by
/// the first visible one of its kind, or else by the CPU. Each replacement is reported once. Off: a
/// missing kernel is a DeviceError, a missing device a UsageError. CUDA and simulated cards are
/// treated alike.
///
/// Threads: construct and destroy it while no operator runs; one at a time. It serves the operators
/// of all threads.
/// Fails: UsageError if there is another one.
///
/// Example:
///     SoftPlacement soft(SoftPlacement::Mode::on);
///     auto card = soft.device("cuda:2");        // cuda:0, or cpu:0, on a machine without it
class SoftPlacement {
 public:
  /// Whether work may go elsewhere.
  enum class Mode { off, on };

  /// `report` gets one line for everything that is replaced; by default the line goes to stderr.
  explicit SoftPlacement(Mode mode, std::function<void(const std::string&)> report = nullptr);
  ~SoftPlacement();
  SoftPlacement(const SoftPlacement&) = delete;
  SoftPlacement& operator=(const SoftPlacement&) = delete;

  /// The device of this name, such as "sim:2", or its replacement.
  /// Fails: UsageError for text that does not name exactly one device; with soft placement off,
  /// also for a device that does not exist.
  Device device(std::string_view name);

  /// The devices that a text names, as in `select_devices`; a missing card in a list is replaced,
  /// and so is "cuda" if there are no CUDA cards. Each device is there once, so there may be fewer
  /// than were named.
  /// Fails: as `select_devices`, for what is not replaced.
  std::vector<Device> devices(std::string_view text, const DeviceOptions& options = {});

 private:
  Device replacement(const Device& missing);

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace pagoda
