#include <pagoda/base/autocast.h>

#include <ATen/autocast_mode.h>

namespace pagoda {

AutocastScope::AutocastScope(c10::DeviceType device, const Autocast& autocast)
    : device_(device),
      was_enabled_(at::autocast::is_autocast_enabled(device)),
      was_cached_(at::autocast::is_autocast_cache_enabled()),
      former_type_(at::autocast::get_autocast_dtype(device)) {
  at::autocast::set_autocast_enabled(device_, autocast.enabled);
  at::autocast::set_autocast_dtype(device_, autocast.type.value_or(former_type_));
  at::autocast::set_autocast_cache_enabled(autocast.cached);
  at::autocast::increment_nesting();
}

AutocastScope::~AutocastScope() {
  if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(device_, was_enabled_);
  at::autocast::set_autocast_dtype(device_, former_type_);
  at::autocast::set_autocast_cache_enabled(was_cached_);
}

}  // namespace pagoda
