#include "fuzz/read_weights.h"

#include <pagoda/base/error.h>
#include <pagoda/checkpoint/checkpoint.h>
#include <pagoda/checkpoint/state_dict.h>

#include <sstream>

#include <ATen/ops/zeros.h>
#include <torch/nn/module.h>

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

/// The same value for the same checkpoint.
std::string text_of(const Checkpoint& read) {
  std::ostringstream text;
  for (const auto* tensors : {&read.model, &read.average, &read.optimizer})
    text << tensor_text(*tensors) << "\n";
  text << tensor_text({{"torch_optimizer", read.torch_optimizer}}) << "\n";
  text.precision(17);
  for (const std::int64_t number : {read.step, read.epoch, read.consumed, read.towers,
                                    read.best_step, read.stale_validations,
                                    read.stalled_validations})
    text << number << "\n";
  for (const double number : {read.samples, read.best.value_or(-1), read.lowest_loss.value_or(-1),
                              read.rate_factor})
    text << number << "\n";
  text << read.seed << "\n" << read.config;
  return text.str();
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
