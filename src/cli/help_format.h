#pragma once

#include <pagoda/cli/flag_adder.h>

#include <cstddef>
#include <string>

namespace pagoda {

/// The text in lines of at most so many columns, broken at spaces; a word that is longer has a line of
/// its own.
std::string wrapped(const std::string& text, std::size_t columns);

/// Columns of the terminal that stdout is, or of COLUMNS where that is set; 0 where help goes
/// elsewhere, and lines may have any length.
std::size_t help_columns();

/// Gives the program and all its commands help in two columns, wrapped at so many columns; 0 does not
/// wrap. With colours its headings are bold.
void format_help(CLI::App& program, std::size_t columns, bool colours = false);

}  // namespace pagoda
