#pragma once

#include <pagoda/cli/command_description.h>

#include <string>

namespace pagoda {

/// The shells for which there is completion.
enum class Shell { bash, zsh, fish };

/// A script with which the shell completes the program's commands, options and the words that
/// options take, with their descriptions from --help where the shell shows them, and file names
/// elsewhere.
///
/// Example: `std::fputs(shell_completion(describe(app), Shell::bash).c_str(), stdout);`
std::string shell_completion(const CommandDescription& program, Shell shell);

}  // namespace pagoda
