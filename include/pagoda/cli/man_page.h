#pragma once

#include <pagoda/cli/command_description.h>

#include <string>

namespace pagoda {

/// A command's manual page in the language of man(7), with its arguments, options and subcommands;
/// `source`, such as "Pagoda 0.1.0", is shown in the footer.
std::string man_page(const CommandDescription& command, const std::string& source);

/// The name of the file that man looks for: "pagoda-train-lenet5.1".
std::string man_file(const CommandDescription& command);

}  // namespace pagoda
