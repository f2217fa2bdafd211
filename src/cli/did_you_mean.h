#pragma once

#include <string>
#include <vector>

namespace pagoda {

/// The candidate that a misspelt word most likely stands for: one that letters left out, added,
/// exchanged or swapped with their neighbour make of it, at most one of them for every three letters.
/// Empty where none is near.
std::string nearest_word(const std::string& word, const std::vector<std::string>& candidates);

}  // namespace pagoda
