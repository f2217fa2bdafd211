#include "fuzz/read_weights.h"

#include <pagoda/base/error.h>
#include <pagoda/checkpoint/checkpoint.h>
#include <pagoda/checkpoint/state_dict.h>

#include <concepts>
#include <optional>
#include <sstream>

#include <ATen/ops/zeros.h>
#include <torch/nn/module.h>

#include "checkpoint/checkpoint_fields.h"
#include "fuzz/fuzz_target.h"
#include "fuzz/tensor_text.h"

namespace pagoda::fuzz {
namespace {

struct SmallModel : torch::nn::Module {
  SmallModel() {
    register_parameter("weight", at::zeros({3, 2}));
    register_parameter("bias", at::zeros({2}));
    register_buffer("steps", at::zeros({}, at::kLong));
  }
};

std::string field_text(const std::vector<NamedTensor>& tensors) { return tensor_text(tensors); }
std::string field_text(const at::Tensor& bytes) { return tensor_text({{"", bytes}}); }
std::string field_text(const std::string& text) { return text; }
std::string field_text(double number) {
  std::ostringstream text;
  text.precision(17);
  text << number;
  return text.str();
}
std::string field_text(const std::optional<double>& number) {
  return number ? field_text(*number) : "none";
}
template <std::integral T>
std::string field_text(T number) {
  return std::to_string(number);
}

/// The same value for the same checkpoint.
std::string text_of(const Checkpoint& read) {
  std::string text;
  visit_fields(read, [&](const char* name, const auto& field, Absent) {
    text += std::string(name) + ": " + field_text(field) + "\n";
  });
  return text;
}

}  // namespace

std::string read_as_checkpoint(const std::filesystem::path& file) {
  const Checkpoint read = read_checkpoint(file);
  const std::string text = text_of(read);
  const auto copy = input_file("", "copy");
  write_checkpoint(read, copy);
  require(text_of(read_checkpoint(copy)) == text, "a checkpoint is another one when written");
  return text;
}

std::string read_as_state_dict(const std::filesystem::path& file) {
  static SmallModel model;
  static const auto tensors = state_dict(model);
  const std::string before = tensor_text(tensors);
  try {
    load_state_dict(model, file);
  } catch (const Error&) {
    require(tensor_text(tensors) == before, "a file that is refused changed the model");
    throw;
  }
  const std::string text = tensor_text(tensors);
  const auto copy = input_file("", "copy");
  save_state_dict(model, copy);
  load_state_dict(model, copy);
  require(tensor_text(tensors) == text, "weights are others when saved");
  return text;
}

}  // namespace pagoda::fuzz
