#pragma once

#include <optional>

#include <c10/core/DeviceType.h>
#include <c10/core/ScalarType.h>

namespace pagoda {

/// Whether operators on a device cast their arguments to another type, and to which.
struct Autocast {
  bool enabled = true;  ///< whether autocast is on
  /// Whether a parameter that is used again reuses its earlier cast. LibTorch has one cache of
  /// casts for all threads, and any thread that leaves its outermost scope clears it for all of
  /// them.
  bool cached = true;
  std::optional<c10::ScalarType> type = std::nullopt;  ///< unset: the current one stays
};

/// Sets this thread's autocast state as Python's `torch.autocast` does, and restores it when the
/// scope ends.
///
/// Threads: construct and destroy it in one thread; scopes may be nested.
class AutocastScope {
 public:
  AutocastScope(c10::DeviceType device, const Autocast& autocast);
  ~AutocastScope();
  AutocastScope(const AutocastScope&) = delete;
  AutocastScope& operator=(const AutocastScope&) = delete;

 private:
  const c10::DeviceType device_;
  const bool was_enabled_;
  const bool was_cached_;
  const c10::ScalarType former_type_;
};

}  // namespace pagoda
