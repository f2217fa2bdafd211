#pragma once

#include <string>

namespace pagoda {

/// "12,345"; "1,234.5" with one decimal: for messages and tables.
std::string grouped(double number, int decimals = 0);

}  // namespace pagoda
