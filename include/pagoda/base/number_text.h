#pragma once

#include <string>

namespace pagoda {

/// A number as a person writes it, with as few digits as tell it apart from every other: "0.1",
/// "25", "1e-07". Never "0.000000" for what is not zero, as std::to_string gives. "nan" and "inf"
/// as such.
std::string number_text(double number);

}  // namespace pagoda
