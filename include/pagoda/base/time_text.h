#pragma once

#include <string>

namespace pagoda {

/// Now, for people: "2026-11-17 05:26:00" in local time.
std::string local_time_text();

/// Now, for machines: "2026-11-17T05:26:00Z", in UTC (ISO 8601).
std::string utc_time_text();

}  // namespace pagoda
