#pragma once

#include <pagoda/cli/command_description.h>

#include <string>

namespace pagoda {

/// The manual page of a command in the language of man(7), with its arguments, options and the
/// commands below it; `source` stands at its foot, such as "Pagoda 0.1.0".
std::string man_page(const CommandDescription& command, const std::string& source);

/// The file that man looks for: "pagoda-train-lenet5.1".
std::string man_file(const CommandDescription& command);

}  // namespace pagoda
