#include "program/program_block.h"

#include <pagoda/base/error.h>

#include <algorithm>
#include <utility>

#include <ATen/ScalarOps.h>
#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <c10/util/Exception.h>

namespace pagoda {
namespace {

c10::IValue list_of(const Operand& operand, Frame& frame) {
  c10::impl::GenericList list(operand.element);
  list.reserve(operand.items.size());
  for (const Operand& item : operand.items) list.push_back(item.take(frame));
  return list;
}

c10::IValue changed(c10::IValue value, Operand::Change change) {
  if (value.isTensor() || value.isNone()) return value;
  if (change == Operand::Change::to_tensor) return number_tensor(value);
  return value.isDouble() ? value : c10::IValue(static_cast<double>(value.toInt()));
}

/// Marks the operands, from the last to the first, that are the last to need a slot.
class LastUses {
 public:
  explicit LastUses(int slots) : needed_(static_cast<std::size_t>(slots), false) {}

  void mark(std::vector<Operand>& operands) {
    for (auto operand = operands.rbegin(); operand != operands.rend(); ++operand) {
      mark(operand->items);
      if (operand->source != Operand::Source::slot) continue;
      auto needed = needed_[static_cast<std::size_t>(operand->slot)];
      if (!needed) operand->source = Operand::Source::last_use;
      needed_[static_cast<std::size_t>(operand->slot)] = true;
    }
  }

  /// A result that nobody needs is not kept.
  void drop_unneeded(Result& result) const {
    if (result.slot >= 0 && !needed_[static_cast<std::size_t>(result.slot)]) result.slot = -1;
    for (int& item : result.items) {
      if (item >= 0 && !needed_[static_cast<std::size_t>(item)]) item = -1;
    }
  }

 private:
  std::vector<bool> needed_;
};

}  // namespace

at::Tensor number_tensor(const c10::IValue& number) {
  return at::native::wrapped_scalar_tensor(number.toScalar());
}

c10::IValue Operand::take(Frame& frame) const {
  switch (source) {
    case Source::constant:
      return constant;
    case Source::device:
      return frame.device;
    case Source::list:
      return list_of(*this, frame);
    case Source::last_use:
    case Source::slot:
      break;
  }
  c10::IValue& held = frame.slots[static_cast<std::size_t>(slot)];
  c10::IValue value = source == Source::last_use ? std::move(held) : held;
  return change == Change::none ? value : changed(std::move(value), change);
}

void Instruction::store(Frame& frame, std::vector<c10::IValue>& values) const {
  if (values.size() < results.size())
    throw DataError(about + " gave fewer results than the program takes");
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Result& result = results[i];
    if (result.slot >= 0) frame.slots[static_cast<std::size_t>(result.slot)] = std::move(values[i]);
    if (!result.is_list) continue;
    if (!values[i].isList()) throw DataError(about + " gave no list, as the program expects");
    const auto items = values[i].toListRef();
    if (items.size() < result.items.size()) {
      throw DataError(about + " gave " + std::to_string(items.size()) +
                      " tensors where the program " + "takes " +
                      std::to_string(result.items.size()));
    }
    for (std::size_t k = 0; k < result.items.size(); ++k) {
      if (result.items[k] >= 0) frame.slots[static_cast<std::size_t>(result.items[k])] = items[k];
    }
  }
}

ProgramBlock::ProgramBlock(int slots, std::vector<std::unique_ptr<Instruction>> instructions,
                           std::vector<Operand> outputs)
    : slots_(slots), instructions_(std::move(instructions)), outputs_(std::move(outputs)) {
  mark_last_uses();
}

void ProgramBlock::mark_last_uses() {
  LastUses uses(slots_);
  uses.mark(outputs_);
  for (auto instruction = instructions_.rbegin(); instruction != instructions_.rend();
       ++instruction) {
    for (Result& result : (*instruction)->results) uses.drop_unneeded(result);
    uses.mark((*instruction)->operands);
  }
}

std::vector<c10::IValue> ProgramBlock::run(std::vector<c10::IValue> inputs,
                                           c10::Device device) const {
  Frame frame{.slots = std::move(inputs), .stack = {}, .device = device};
  frame.slots.resize(static_cast<std::size_t>(slots_));
  const Instruction* current = nullptr;
  try {
    for (const auto& instruction : instructions_) {
      current = instruction.get();
      current->run(frame);
    }
  } catch (c10::Error& error) {
    if (current != nullptr) error.add_context("in " + current->about);
    throw;
  }
  std::vector<c10::IValue> outputs;
  outputs.reserve(outputs_.size());
  for (const Operand& output : outputs_) outputs.push_back(output.take(frame));
  return outputs;
}

}  // namespace pagoda
