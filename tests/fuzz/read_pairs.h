#pragma once

#include <pagoda/text/pair_reader.h>

#include <string>

namespace pagoda::fuzz {

/// All pairs of the files as text, read with both rules for lines that cannot be used; checks what
/// must be true of every file. Fails: DataError as the reader does.
std::string read_pairs(const PairFiles& files);

}  // namespace pagoda::fuzz
