#pragma once

#include <string>

namespace pagoda {

/// The current local time, for people: "2026-11-17 05:26:00".
std::string local_time_text();

/// The current time in UTC, for machines (ISO 8601): "2026-11-17T05:26:00Z".
std::string utc_time_text();

}  // namespace pagoda
