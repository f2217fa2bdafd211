#pragma once

#include <string>
#include <vector>

namespace pagoda {

/// In single quotes, so that a shell takes it as it is.
std::string shell_quoted(const std::string& text);

/// The words as a person would type them in a shell: those with special characters in quotes.
std::string shell_line(const std::vector<std::string>& words);

/// How this process was started; empty where the system does not tell.
std::string command_line_of_process();

}  // namespace pagoda
