#pragma once

#include <pagoda/tower/replicas.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

namespace pagoda {

/// While it lives, tells when backward has finished a parameter's gradient on a tower, in the thread
/// that runs backward there. A hook that the user has set on the parameter is called before.
///
/// Threads: made and destroyed while no tower runs.
class GradientHooks {
 public:
  using Ready = std::function<void(int tower, std::size_t parameter)>;

  GradientHooks(std::shared_ptr<const Replicas> replicas, Ready ready);
  ~GradientHooks();
  GradientHooks(const GradientHooks&) = delete;
  GradientHooks& operator=(const GradientHooks&) = delete;

 private:
  struct Hook;

  const std::shared_ptr<const Replicas> replicas_;
  const Ready ready_;
};

/// Throws UsageError for a gradient that a second backward inside of backward has changed after it was
/// told of: `others`, such as "cards", have what it was.
[[noreturn]] void refuse_late_gradient(const std::string& name, const char* others);

}  // namespace pagoda
