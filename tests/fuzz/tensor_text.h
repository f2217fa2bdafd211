#pragma once

#include <pagoda/params/parameter_table.h>

#include <string>
#include <vector>

namespace pagoda::fuzz {

/// Names, types, shapes and bytes: two lists have the same text if they hold the same values. Reads
/// every element, so that a tensor that reaches past its memory is noticed.
std::string tensor_text(const std::vector<NamedTensor>& tensors);

}  // namespace pagoda::fuzz
