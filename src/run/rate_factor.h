#pragma once

#include <pagoda/run/optimizer_choice.h>

#include <string>

namespace pagoda {

/// Reads a factor for some parameters, "head.*=10". Fails: UsageError.
RateFactor parse_rate_factor(const std::string& text);

/// What `parse_rate_factor` reads.
std::string rate_factor_text(const RateFactor& factor);

/// A pattern of names as it is. Fails: UsageError for an empty one.
std::string parse_names(const std::string& text);

}  // namespace pagoda
