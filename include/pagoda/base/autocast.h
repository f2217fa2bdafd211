#pragma once

#include <optional>

#include <c10/core/DeviceType.h>
#include <c10/core/ScalarType.h>

namespace pagoda {

/// Whether operators of a device take their arguments in another type, and in which.
struct Autocast {
  bool enabled = true;  ///< whether it is on
  /// Whether a parameter that is used again is not cast again. LibTorch keeps these copies for all
  /// threads together, and whichever thread ends its scope first drops those of all.
  bool cached = true;
  std::optional<c10::ScalarType> type = std::nullopt;  ///< unset: the one that is set already
};

/// Sets autocast of this thread as Python's `torch.autocast` does, and back at its end.
///
/// Threads: construct and destroy it in one thread; scopes may be inside of each other.
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
