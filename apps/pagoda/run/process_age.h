#pragma once

namespace pagoda::app {

/// Seconds since the process was started, loading its libraries included; to a hundredth.
double process_age();

}  // namespace pagoda::app
