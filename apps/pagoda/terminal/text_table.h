#pragma once

#include <pagoda/base/byte_size.h>

#include <string>
#include <vector>

namespace pagoda::app {

/// Lines of aligned columns for a person: the first row is the heading, the first column stands
/// left and numbers right.
std::string text_table(const std::vector<std::vector<std::string>>& rows);

/// "12,345"; "1,234.5" with one decimal.
std::string grouped(double number, int decimals = 0);

/// "1 tower", "2 towers".
std::string counted(std::int64_t number, const std::string& thing);

}  // namespace pagoda::app
