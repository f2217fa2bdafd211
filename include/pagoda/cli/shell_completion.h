#pragma once

#include <pagoda/cli/command_description.h>

#include <string>

namespace pagoda {

/// The shells that have completion.
enum class Shell { bash, zsh, fish };

/// A script that lets the shell complete the program's commands, options and the words that options
/// take, with what --help says of them where the shell shows that; file names elsewhere.
///
/// Example: `std::fputs(shell_completion(describe(app), Shell::bash).c_str(), stdout);`
std::string shell_completion(const CommandDescription& program, Shell shell);

}  // namespace pagoda
