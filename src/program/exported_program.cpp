#include <pagoda/base/error.h>
#include <pagoda/program/exported_program.h>

#include "program/loaded_program.h"

namespace pagoda {

ExportedProgram::ExportedProgram(const std::filesystem::path& file, const ProgramOptions& options)
    : loaded_(std::make_shared<const LoadedProgram>(load_program(file, options))) {
  if (loaded_->code) return;
  throw UsageError(loaded_->file + " cannot be run here: " + problems_text(loaded_->problems));
}

std::vector<std::string> ExportedProgram::input_names() const {
  return loaded_->code->training.check.names();
}

std::vector<std::vector<std::int64_t>> ExportedProgram::input_sizes() const {
  return loaded_->code->training.check.sizes();
}

std::vector<std::string> ExportedProgram::output_names() const {
  return loaded_->code->training.output_names;
}

void ExportedProgram::check_inputs(const std::vector<at::Tensor>& inputs) const {
  loaded_->code->training.check.check(inputs);
}

std::string ExportedProgram::no_evaluation() const { return loaded_->code->no_evaluation; }

}  // namespace pagoda
