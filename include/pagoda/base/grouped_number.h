#pragma once

#include <cstdint>
#include <string>

namespace pagoda {

/// "12,345"; "1,234.5" with one decimal: for messages and tables.
std::string grouped(double number, int decimals = 0);

/// "1 tower", "2 towers", "1,234 processes". The plural is formed with "es" after "s" or "ch",
/// otherwise with "s".
std::string counted(std::int64_t number, const std::string& thing);

}  // namespace pagoda
