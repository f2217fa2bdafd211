#pragma once

#include <string>

namespace pagoda {

/// Columns of the terminal that a descriptor (STDOUT_FILENO, STDERR_FILENO) refers to; 0 if it is
/// not a terminal, or one of unknown size. Windows are resized, so ask again before each use.
int terminal_columns(int descriptor);

/// Whether output to a descriptor may be coloured: the descriptor refers to a terminal that has
/// colours (TERM is neither unset nor "dumb"), and NO_COLOR is unset or empty, as
/// https://no-color.org asks.
bool has_colours(int descriptor);

/// How to make text stand out on a terminal.
enum class Emphasis { bold, red, yellow, green, dim };

/// The text in that colour or weight, for a terminal; unchanged if `colours` is false.
std::string emphasised(const std::string& text, Emphasis emphasis, bool colours);

}  // namespace pagoda
