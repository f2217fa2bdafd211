#include <pagoda/base/error.h>
#include <pagoda/checkpoint/state_dict.h>
#include <pagoda/program/exported_model.h>
#include <pagoda/program/program_summary.h>

#include <algorithm>

#include <ATen/Functions.h>

#include "fuzz/fuzz_target.h"
#include "fuzz/stored_zip.h"
#include "fuzz/tensor_text.h"

namespace pagoda::fuzz {
namespace program_fuzz {

constexpr std::int64_t kMostRows = 4;       // of an input that is checked
constexpr std::size_t kMostDimensions = 8;  // of the same
constexpr std::int64_t kRowsWhereAnyWillDo = 2;

/// What `pagoda show` prints of it.
std::string summary_text(const ProgramSummary& summary) {
  std::string text = summary.torch_version + "\n" + summary.evaluation + "\n";
  for (const auto* values : {&summary.inputs, &summary.outputs})
    for (const auto& [name, about] : *values) text += name + ": " + about + "\n";
  for (const auto& [name, count] : summary.operators)
    text += name + " " + std::to_string(count) + "\n";
  for (const std::string& problem : summary.problems) text += problem + "\n";
  return text;
}

/// Small tensors of the right number of dimensions.
std::vector<at::Tensor> small_inputs(const ExportedProgram& program) {
  std::vector<at::Tensor> inputs;
  for (std::vector<std::int64_t> sizes : program.input_sizes()) {
    for (std::int64_t& size : sizes)
      size = size < 0 ? kRowsWhereAnyWillDo : std::min(size, kMostRows);
    sizes.resize(std::min(sizes.size(), kMostDimensions));
    inputs.push_back(sizes.empty() ? at::ones({}, at::kLong) : at::zeros(sizes));
  }
  return inputs;
}

/// Whether it would take them, and why not.
std::string check_text(const ExportedProgram& program) {
  try {
    program.check_inputs(small_inputs(program));
    return "";
  } catch (const UsageError& error) {
    return error.what();
  }
}

/// The JSON of a program, of its weights and of its constants, and the bytes of a weight, lines "%%"
/// between them, in an archive with right checksums. The program is made ready and its inputs are
/// checked; it is not run.
std::string read(std::string_view bytes) {
  const auto parts = parts_of(bytes, 4);
  const auto file =
      input_file(stored_zip({{"m/archive_format", "pt2"},
                             {"m/byteorder", "little"},
                             {"m/models/model.json", parts[0]},
                             {"m/data/weights/model_weights_config.json", parts[1]},
                             {"m/data/constants/model_constants_config.json", parts[2]},
                             {"m/data/weights/weight_0", parts[3]}}),
                 "model.pt2");
  std::string text = summary_text(describe_program(file));
  const ExportedProgram program(file);
  text += check_text(program);
  const ExportedModel model(program);
  for (const auto& names : {model->input_names(), model->output_names()})
    for (const std::string& name : names) text += name + "\n";
  return text + tensor_text(state_dict(*model));
}

const Registration registration{{"program", &read}};

}  // namespace program_fuzz
}  // namespace pagoda::fuzz
