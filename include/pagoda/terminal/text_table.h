#pragma once

#include <pagoda/base/byte_size.h>
#include <pagoda/base/grouped_number.h>

#include <cstddef>
#include <string>
#include <vector>

namespace pagoda {

/// Lines of aligned columns for a person: the first row is the heading, the first column stands
/// left and numbers right.
std::string text_table(const std::vector<std::vector<std::string>>& rows);

/// Columns that a terminal shows of text in UTF-8 whose characters are each one wide.
std::size_t shown_width(const std::string& text);

}  // namespace pagoda
