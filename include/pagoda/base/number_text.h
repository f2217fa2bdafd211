#pragma once

#include <string>

namespace pagoda {

/// A number as a person would write it, with the fewest digits that distinguish it from every other
/// double: "0.1", "25", "1e-07". Unlike std::to_string, it never gives "0.000000" for a number that
/// is not zero. "nan" and "inf" are written as such.
std::string number_text(double number);

}  // namespace pagoda
