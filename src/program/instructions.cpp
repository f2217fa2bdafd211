#include "program/instructions.h"

#include <ATen/autocast_mode.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <c10/util/Exception.h>

namespace pagoda {
namespace {

std::vector<c10::IValue> taken(const std::vector<Operand>& operands, Frame& frame,
                               std::size_t first = 0) {
  std::vector<c10::IValue> values;
  values.reserve(operands.size());
  for (std::size_t i = first; i < operands.size(); ++i) values.push_back(operands[i].take(frame));
  return values;
}

/// Sets autocast as Python's `torch.autocast` does, and back.
class AutocastGuard {
 public:
  AutocastGuard(c10::DeviceType device, const AutocastRegion::Setting& setting)
      : device_(device),
        was_enabled_(at::autocast::is_autocast_enabled(device)),
        was_cached_(at::autocast::is_autocast_cache_enabled()),
        former_type_(at::autocast::get_autocast_dtype(device)) {
    at::autocast::set_autocast_enabled(device_, setting.enabled);
    at::autocast::set_autocast_dtype(device_, setting.type.value_or(former_type_));
    at::autocast::set_autocast_cache_enabled(setting.cached);
    at::autocast::increment_nesting();
  }
  ~AutocastGuard() {
    if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(device_, was_enabled_);
    at::autocast::set_autocast_dtype(device_, former_type_);
    at::autocast::set_autocast_cache_enabled(was_cached_);
  }
  AutocastGuard(const AutocastGuard&) = delete;
  AutocastGuard& operator=(const AutocastGuard&) = delete;

 private:
  const c10::DeviceType device_;
  const bool was_enabled_;
  const bool was_cached_;
  const at::ScalarType former_type_;
};

bool is_true(const c10::IValue& value) {
  return value.isTensor() ? value.toTensor().item().toBool() : value.toBool();
}

}  // namespace

void OperatorCall::run(Frame& frame) const {
  frame.stack.clear();
  for (const Operand& operand : operands) frame.stack.push_back(operand.take(frame));
  handle_.callBoxed(frame.stack);
  store(frame, frame.stack);
}

void BatchNormCall::run(Frame& frame) const {
  if (operands[0].slot >= 0) {
    const at::Tensor& input = frame.slots[static_cast<std::size_t>(operands[0].slot)].toTensor();
    TORCH_CHECK(input.dim() < 2 || input.numel() != input.size(1),
                "Expected more than 1 value per channel when training, got input size ",
                input.sizes());
  }
  OperatorCall::run(frame);
}

void NumberCall::run(Frame& frame) const {
  std::vector<c10::IValue> result{operator_(taken(operands, frame))};
  store(frame, result);
}

void GradRegion::run(Frame& frame) const {
  const c10::AutoGradMode mode(enabled_);
  auto values = block_->run(taken(operands, frame), frame.device);
  store(frame, values);
}

void AutocastRegion::run(Frame& frame) const {
  const AutocastGuard guard(frame.device.type(), setting_);
  auto values = block_->run(taken(operands, frame), frame.device);
  store(frame, values);
}

void Condition::run(Frame& frame) const {
  const ProgramBlock& chosen = is_true(operands[0].take(frame)) ? *when_true_ : *when_false_;
  auto values = chosen.run(taken(operands, frame, 1), frame.device);
  store(frame, values);
}

}  // namespace pagoda
