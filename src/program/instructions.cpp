#include "program/instructions.h"

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
  const AutocastScope scope(frame.device.type(), autocast_);
  auto values = block_->run(taken(operands, frame), frame.device);
  store(frame, values);
}

void Condition::run(Frame& frame) const {
  const ProgramBlock& chosen = is_true(operands[0].take(frame)) ? *when_true_ : *when_false_;
  auto values = chosen.run(taken(operands, frame, 1), frame.device);
  store(frame, values);
}

}  // namespace pagoda
