#include <pagoda/base/error.h>
#include <pagoda/checkpoint/state_dict.h>
#include <pagoda/program/exported_model.h>

#include "fuzz/fuzz_target.h"
#include "fuzz/stored_zip.h"
#include "fuzz/tensor_text.h"

namespace pagoda::fuzz {
namespace program_fuzz {

/// The JSON of a program, of its weights and of its constants, and the bytes of a weight, lines "%%"
/// between them, in an archive with right checksums. The program is made ready, not run.
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
  const ExportedModel model(file);
  std::string text;
  for (const auto& names : {model->input_names(), model->output_names()})
    for (const std::string& name : names) text += name + "\n";
  return text + tensor_text(state_dict(*model));
}

const Registration registration{{"program", &read}};

}  // namespace program_fuzz
}  // namespace pagoda::fuzz
