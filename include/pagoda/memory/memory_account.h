#pragma once

#include <pagoda/base/error.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

namespace pagoda {

/// A device's memory limit was reached; nothing was allocated, and nothing else is affected.
class MemoryLimitError : public DeviceError {
 public:
  /// Created by whatever refuses the memory.
  MemoryLimitError(const std::string& device, std::int64_t limit, std::int64_t in_use,
                   std::int64_t asked_for);

  /// The label of the device whose limit it is.
  const std::string& device() const { return device_; }
  std::int64_t limit() const { return limit_; }          ///< bytes
  std::int64_t in_use() const { return in_use_; }        ///< bytes, before the request
  std::int64_t asked_for() const { return asked_for_; }  ///< bytes

 private:
  std::string device_;
  std::int64_t limit_;
  std::int64_t in_use_;
  std::int64_t asked_for_;
};

/// Counts the bytes that a device's tensors use, and refuses what would exceed its limit.
///
/// Threads: all functions may be called at once, from any thread.
/// Fails: `charge` throws MemoryLimitError, and has then counted nothing.
class MemoryAccount {
 public:
  /// `device` is for messages; without a limit, only the system's memory sets one.
  explicit MemoryAccount(std::string device, std::optional<std::int64_t> limit = std::nullopt);

  /// Counts memory that is allocated. Fails: MemoryLimitError past the limit; nothing is counted
  /// then.
  void charge(std::int64_t bytes);
  /// Counts memory that is freed.
  void release(std::int64_t bytes) noexcept { in_use_ -= bytes; }

  /// Bytes in use now.
  std::int64_t in_use() const { return in_use_; }
  std::int64_t peak() const { return peak_; }  ///< most bytes in use since `reset_peak`
  /// Restarts the measurement of the peak.
  void reset_peak() { peak_ = in_use(); }

  /// Most bytes that may be in use; unset: any number.
  std::optional<std::int64_t> limit() const;
  /// Sets another limit, for what is charged from now on.
  void set_limit(std::optional<std::int64_t> limit);

 private:
  const std::string device_;
  std::atomic<std::int64_t> limit_;
  std::atomic<std::int64_t> in_use_ = 0;
  std::atomic<std::int64_t> peak_ = 0;
};

}  // namespace pagoda
