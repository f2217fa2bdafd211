#include "cli/help_format.h"

#include <pagoda/terminal/screen.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <unistd.h>

namespace pagoda {
namespace {

constexpr std::size_t kNameColumns = 34;
constexpr std::size_t kLeastColumns = 20;  // for descriptions, on narrow terminals

/// CLI11's help, with descriptions that stay in their column.
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter(std::size_t columns, bool colours) : columns_(columns), colours_(colours) {
    column_width(kNameColumns);
  }

  std::string make_help(const CLI::App* command, std::string name,
                        CLI::AppFormatMode mode) const override {
    return with_bold_headings(CLI::Formatter::make_help(command, std::move(name), mode));
  }

  std::string make_option_desc(const CLI::Option* option) const override {
    return beside_names(CLI::Formatter::make_option_desc(option));
  }

  std::string make_subcommand(const CLI::App* command) const override {
    std::ostringstream out;
    CLI::detail::format_help(out, command->get_display_name(true),
                             beside_names(command->get_description()), kNameColumns);
    return out.str();
  }

  std::string make_description(const CLI::App* command) const override {
    const std::string text = CLI::Formatter::make_description(command);
    return columns_ == 0 ? text : wrapped(text, columns_) + "\n";
  }

 private:
  std::string beside_names(const std::string& text) const {
    if (columns_ == 0) return text;
    return wrapped(text, std::max(kLeastColumns, columns_ - std::min(columns_, kNameColumns)));
  }

  /// Headings are the lines that begin at the left and end in a colon.
  std::string with_bold_headings(const std::string& help) const {
    std::istringstream lines(help);
    std::string text;
    for (std::string line; std::getline(lines, line);) {
      const bool is_heading = line.ends_with(':') && !line.starts_with(' ');
      text += emphasised(line, Emphasis::bold, colours_ && is_heading) + "\n";
    }
    return text;
  }

  std::size_t columns_;
  bool colours_;
};

void set_formatter(CLI::App& command, const std::shared_ptr<CLI::FormatterBase>& formatter) {
  command.formatter(formatter);
  for (CLI::App* inner : command.get_subcommands(nullptr)) set_formatter(*inner, formatter);
}

}  // namespace

std::string wrapped(const std::string& text, std::size_t columns) {
  std::istringstream words(text);
  std::string lines;
  std::size_t length = 0;  // of the last line
  for (std::string word; words >> word;) {
    const bool fits = length + 1 + word.size() <= columns;
    if (length > 0) lines += fits ? ' ' : '\n';
    length = length > 0 && fits ? length + 1 + word.size() : word.size();
    lines += word;
  }
  return lines;
}

std::size_t help_columns() {
  if (const char* given = std::getenv("COLUMNS"); given != nullptr) {
    if (const int columns = std::atoi(given); columns > 0) return static_cast<std::size_t>(columns);
  }
  return static_cast<std::size_t>(terminal_columns(STDOUT_FILENO));
}

void format_help(CLI::App& program, std::size_t columns, bool colours) {
  set_formatter(program, std::make_shared<HelpFormatter>(columns, colours));
}

}  // namespace pagoda
