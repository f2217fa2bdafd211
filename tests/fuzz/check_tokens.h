#pragma once

#include <pagoda/text/tokenizer.h>

#include <string>
#include <string_view>

namespace pagoda::fuzz {

/// The tokens of a line, and the line that they make, as text; checks what must be true of every
/// line. What is not UTF-8 is replaced first, as nothing else reaches a tokenizer.
std::string check_tokens(const Tokenizer& tokenizer, std::string_view line);

}  // namespace pagoda::fuzz
