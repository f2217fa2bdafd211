#pragma once

#include <functional>

namespace pagoda::app {

/// How long the work took.
double seconds_of(const std::function<void()>& work);

}  // namespace pagoda::app
