#include "program/operand_maker.h"

#include <algorithm>
#include <utility>

#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/jit_type.h>

namespace pagoda {
namespace {

using Kind = GraphArgument::Kind;

Operand constant_operand(c10::IValue value) { return {.constant = std::move(value)}; }

class OperandMaker {
 public:
  OperandMaker(const c10::Argument& wanted, const SlotOf& slot_of)
      : wanted_(wanted), slot_of_(slot_of) {}

  Operand make(const GraphArgument& argument, const c10::TypePtr& type) const {
    if (const auto optional = type->cast<c10::OptionalType>()) {
      if (argument.kind == Kind::literal && argument.literal.isNone()) return {};
      return make(argument, optional->getElementType());
    }
    switch (argument.kind) {
      case Kind::literal:
        return literal(argument, type);
      case Kind::value:
        return value(argument, type);
      case Kind::list:
        return list(argument.items, type);
      case Kind::device:
        if (type->kind() != c10::TypeKind::DeviceObjType) refuse("a device");
        return {.source = Operand::Source::device};
      case Kind::graph:
        refuse("a graph");
      case Kind::unsupported:
        break;
    }
    refuse(argument.name);
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw Unsupported("is called with " + what + " as '" + wanted_.name() + "'");
  }

  Operand literal(const GraphArgument& argument, const c10::TypePtr& type) const {
    const c10::IValue& given = argument.literal;
    const bool is_number =
        given.isInt() || given.isDouble() || given.isBool() || given.isComplexDouble();
    switch (type->kind()) {
      case c10::TypeKind::TensorType:
        if (given.isNone()) return constant_operand(at::Tensor());
        if (is_number) return constant_operand(number_tensor(given));
        break;
      case c10::TypeKind::FloatType:
        if (given.isInt()) return constant_operand(static_cast<double>(given.toInt()));
        if (given.isDouble()) return constant_operand(given);
        break;
      case c10::TypeKind::NumberType:
        if (is_number) return constant_operand(given);
        break;
      case c10::TypeKind::IntType:
      case c10::TypeKind::SymIntType:
        if (given.isBool()) return constant_operand(static_cast<std::int64_t>(given.toBool()));
        if (given.isInt()) return constant_operand(given);
        break;
      case c10::TypeKind::BoolType:
      case c10::TypeKind::SymBoolType:
        if (given.isBool()) return constant_operand(given);
        break;
      case c10::TypeKind::StringType:
        if (given.isString()) return constant_operand(given);
        break;
      case c10::TypeKind::ListType:
        return list(copies(argument), type);
      default:
        break;
    }
    refuse(given.isNone() ? "nothing" : "a literal of another kind");
  }

  /// A single number for a list of a fixed size stands for each of its members.
  std::vector<GraphArgument> copies(const GraphArgument& argument) const {
    if (!wanted_.N() || argument.literal.isNone()) refuse("a single value");
    return {static_cast<std::size_t>(std::max(*wanted_.N(), 0)), argument};
  }

  Operand value(const GraphArgument& argument, const c10::TypePtr& type) const {
    Operand operand{.source = Operand::Source::slot, .slot = slot_of_(argument.name)};
    const c10::TypeKind kind = type->kind();
    const bool wants_tensor = kind == c10::TypeKind::TensorType;
    if (kind == c10::TypeKind::ListType) refuse("a value that is no list");
    if (!argument.is_number && !wants_tensor) refuse("a tensor");
    if (argument.is_number && wants_tensor) operand.change = Operand::Change::to_tensor;
    if (kind == c10::TypeKind::FloatType) operand.change = Operand::Change::to_double;
    return operand;
  }

  Operand list(const std::vector<GraphArgument>& items, const c10::TypePtr& type) const {
    const auto list_type = type->cast<c10::ListType>();
    if (!list_type) refuse("a list");
    Operand operand{.source = Operand::Source::list, .element = list_type->getElementType()};
    for (const GraphArgument& item : items) operand.items.push_back(make(item, operand.element));
    const bool constant =
        std::all_of(operand.items.begin(), operand.items.end(),
                    [](const Operand& item) { return item.source == Operand::Source::constant; });
    if (!constant) return operand;
    Frame nothing{.slots = {}, .stack = {}, .device = c10::kCPU};
    return constant_operand(operand.take(nothing));
  }

  const c10::Argument& wanted_;
  const SlotOf& slot_of_;
};

}  // namespace

Operand operand_for(const GraphArgument& argument, const c10::Argument& wanted,
                    const SlotOf& slot_of) {
  return OperandMaker(wanted, slot_of).make(argument, wanted.type());
}

Operand plain_operand(const GraphArgument& argument, const SlotOf& slot_of) {
  switch (argument.kind) {
    case Kind::literal:
      return constant_operand(argument.literal);
    case Kind::value:
      return {.source = Operand::Source::slot, .slot = slot_of(argument.name)};
    case Kind::device:
      return {.source = Operand::Source::device};
    default:
      throw Unsupported("is called with an argument of another kind");
  }
}

}  // namespace pagoda
