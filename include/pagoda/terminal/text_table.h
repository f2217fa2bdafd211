#pragma once

#include <pagoda/base/byte_size.h>
#include <pagoda/base/grouped_number.h>

#include <cstddef>
#include <string>
#include <vector>

namespace pagoda {

/// Lines of aligned columns for a person to read. The first row is the heading; columns of numbers
/// are aligned right, all others left. There must be a first row, and all rows must be equally
/// long.
std::string text_table(const std::vector<std::vector<std::string>>& rows);

/// Columns that a terminal needs to show UTF-8 text whose characters are each one column wide.
std::size_t shown_width(const std::string& text);

}  // namespace pagoda
