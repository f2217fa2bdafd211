#pragma once

#include <functional>
#include <vector>

namespace pagoda::app {

/// The middle value, or the mean of the two middle ones.
double median(std::vector<double> values);

/// How long the work took.
double seconds_of(const std::function<void()>& work);

}  // namespace pagoda::app
