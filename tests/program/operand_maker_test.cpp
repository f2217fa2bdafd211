#include "program/operand_maker.h"

#include <ATen/core/Tensor.h>
#include <gtest/gtest.h>

#include "program/operator_table.h"

namespace pagoda {
namespace operand_maker_test {

using Kind = GraphArgument::Kind;

const SlotOf kSlots = [](const std::string& name) { return name == "n" ? 4 : 7; };

/// The argument of an operator by name.
c10::Argument argument_of(const char* target, const std::string& name) {
  for (const c10::Argument& argument :
       OperatorTable({}).find(target).handle->schema().arguments()) {
    if (argument.name() == name) return argument;
  }
  throw std::runtime_error(name);
}

GraphArgument value(const char* name, bool is_number) {
  return {.kind = Kind::value, .name = name, .is_number = is_number};
}

TEST(OperandMakerTest, NumbersBecomeWhatTheOperatorTakes) {
  const auto other = argument_of("torch.ops.aten.add_.Tensor", "other");
  const Operand number = operand_for({.literal = 1}, other, kSlots);
  EXPECT_TRUE(number.constant.toTensor().unsafeGetTensorImpl()->is_wrapped_number());
  EXPECT_EQ(operand_for(value("n", true), other, kSlots).change, Operand::Change::to_tensor);
  EXPECT_EQ(operand_for(value("t", false), other, kSlots).change, Operand::Change::none);
  const auto p = argument_of("torch.ops.aten.dropout.default", "p");
  EXPECT_EQ(operand_for({.literal = 1}, p, kSlots).constant.toDouble(), 1.0);
  EXPECT_EQ(operand_for(value("n", true), p, kSlots).change, Operand::Change::to_double);
  const auto stride = argument_of("torch.ops.aten.conv2d.default", "stride");
  EXPECT_EQ(operand_for({.literal = 3}, stride, kSlots).constant.toIntVector(),
            (std::vector<std::int64_t>{3, 3}));
}

TEST(OperandMakerTest, ListsAreConstantOrMadeInEveryCall) {
  const auto shape = argument_of("torch.ops.aten.reshape.default", "shape");
  GraphArgument list{.kind = Kind::list, .items = {{.literal = 2}, {.literal = -1}}};
  EXPECT_EQ(operand_for(list, shape, kSlots).constant.toIntVector(),
            (std::vector<std::int64_t>{2, -1}));
  list.items.push_back(value("n", true));
  EXPECT_EQ(operand_for(list, shape, kSlots).source, Operand::Source::list);
  const auto indices = argument_of("torch.ops.aten.index.Tensor", "indices");
  const GraphArgument tensors{.kind = Kind::list, .items = {{}, value("t", false)}};
  const Operand made = operand_for(tensors, indices, kSlots);
  Frame frame{.slots = std::vector<c10::IValue>(8, at::Tensor()), .stack = {}, .device = at::kCPU};
  EXPECT_EQ(made.take(frame).toOptionalTensorVector().size(), 2);
}

TEST(OperandMakerTest, WhatAnOperatorDoesNotTakeIsRefused) {
  const auto p = argument_of("torch.ops.aten.dropout.default", "p");
  const auto train = argument_of("torch.ops.aten.dropout.default", "train");
  EXPECT_THROW(operand_for(value("t", false), p, kSlots), Unsupported);
  EXPECT_THROW(operand_for({.literal = "text"}, p, kSlots), Unsupported);
  EXPECT_THROW(operand_for({}, train, kSlots), Unsupported);
  EXPECT_THROW(operand_for({.kind = Kind::list}, train, kSlots), Unsupported);
  EXPECT_THROW(operand_for({.kind = Kind::device}, train, kSlots), Unsupported);
  EXPECT_THROW(operand_for({.kind = Kind::unsupported, .name = "as_custom_obj"}, p, kSlots),
               Unsupported);
  EXPECT_THROW(plain_operand({.kind = Kind::graph}, kSlots), Unsupported);
}

}  // namespace operand_maker_test
}  // namespace pagoda
