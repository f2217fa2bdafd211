#pragma once

#include <pagoda/base/error.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

namespace pagoda {

/// A device's memory limit was reached; nothing was allocated and everything else goes on.
class MemoryLimitError : public DeviceError {
 public:
  /// Made by whoever refuses the memory.
  MemoryLimitError(const std::string& device, std::int64_t limit, std::int64_t in_use,
                   std::int64_t asked_for);

  /// Whose limit it is.
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

/// Counts the bytes that a device's tensors take, and refuses what would pass its limit.
///
/// Threads: all functions may be called at once, from any thread.
/// Fails: `charge` throws MemoryLimitError and has then counted nothing.
class MemoryAccount {
 public:
  /// `device` is for messages; no limit means that only the system's memory ends it.
  explicit MemoryAccount(std::string device, std::optional<std::int64_t> limit = std::nullopt);

  /// Counts memory that is taken. Fails: MemoryLimitError past the limit; nothing is counted then.
  void charge(std::int64_t bytes);
  /// Counts memory that is given back.
  void release(std::int64_t bytes) noexcept { in_use_ -= bytes; }

  /// Bytes that are taken now.
  std::int64_t in_use() const { return in_use_; }
  std::int64_t peak() const { return peak_; }  ///< the most that was in use since `reset_peak`
  /// Begins to measure the peak anew.
  void reset_peak() { peak_ = in_use(); }

  /// Most bytes that may be taken; unset: any number.
  std::optional<std::int64_t> limit() const;
  /// Another limit, for what is charged from now on.
  void set_limit(std::optional<std::int64_t> limit);

 private:
  const std::string device_;
  std::atomic<std::int64_t> limit_;
  std::atomic<std::int64_t> in_use_ = 0;
  std::atomic<std::int64_t> peak_ = 0;
};

}  // namespace pagoda
