#pragma once

#include <pagoda/program/exported_program.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/model_training.h"
#include "program/program_loss.h"
#include "program/program_rows.h"

namespace pagoda::app {

/// A model that Python has exported: trained by a Run on the rows of named tensors.
class ProgramTraining : public ModelTraining {
 public:
  void add_flags(CLI::App& command) override;
  RunSummary train(const RunOptions& options) override;
  void add_test_flags(CLI::App& command) override;
  TestReport test(const StoredRun& run, const std::vector<Device>& devices, World* world) override;

 private:
  ExportedProgram load() const;
  ProgramLoss loss_of(const ExportedProgram& program) const;
  std::optional<TextTokens> text_of(const ExportedProgram& program) const;

  std::string file_;
  std::vector<std::string> data_;
  std::vector<std::string> valid_;
  std::string text_;  // empty: the files are no text
  std::optional<std::int64_t> text_length_;
  std::string loss_ = "program";
  double label_smoothing_ = 0;
  std::string target_ = "y";
  std::vector<std::string> libraries_;
  std::vector<std::string> cuts_;
  std::string test_data_;  // empty: the run's
};

}  // namespace pagoda::app
