#pragma once

#include <string>

namespace pagoda {

/// Columns of the terminal that a descriptor leads to (STDOUT_FILENO, STDERR_FILENO); 0 where it is
/// none, or does not say. Windows are resized: ask again before each use.
int terminal_columns(int descriptor);

/// Whether what goes to a descriptor may have colours: it leads to a terminal that has them (TERM is
/// neither unset nor "dumb"), and NO_COLOR is unset or empty, as https://no-color.org asks.
bool has_colours(int descriptor);

/// How text stands out on a terminal.
enum class Emphasis { bold, red, yellow, green, dim };

/// The text in that colour or weight for a terminal, or as it is without colours.
std::string emphasised(const std::string& text, Emphasis emphasis, bool colours);

}  // namespace pagoda
