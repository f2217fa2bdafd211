#include <pagoda/checkpoint/state_dict.h>

#include "fuzz/fuzz_target.h"
#include "fuzz/tensor_text.h"

namespace pagoda::fuzz {
namespace safetensors_fuzz {

/// What a file holds; written and read again, it is the same.
std::string read(std::string_view bytes) {
  const WeightsFile file = read_weights(input_file(bytes, "input.safetensors"));
  std::string text = tensor_text(file.tensors);
  const auto copy = input_file("", "copy.safetensors");
  save_state_dict(file.tensors, copy);
  require(tensor_text(read_weights(copy).tensors) == text, "weights are others when saved");
  for (const auto& [key, value] : file.metadata) text += key + "=" + value + "\n";
  return text;
}

const Registration registration{{"safetensors", &read}};

}  // namespace safetensors_fuzz
}  // namespace pagoda::fuzz
