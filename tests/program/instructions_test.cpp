#include "program/instructions.h"

#include <ATen/autocast_mode.h>
#include <ATen/ops/ones.h>
#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include "program/operator_table.h"

namespace pagoda {
namespace instructions_test {

Operand slot(int number) { return {.source = Operand::Source::slot, .slot = number}; }

std::unique_ptr<const ProgramBlock> doubling() {
  auto call =
      std::make_unique<OperatorCall>(*OperatorTable({}).find("torch.ops.aten.mm.default").handle);
  call->operands = {slot(0), slot(0)};
  call->results = {{.slot = 1}};
  std::vector<std::unique_ptr<Instruction>> instructions;
  instructions.push_back(std::move(call));
  return std::make_unique<const ProgramBlock>(2, std::move(instructions),
                                              std::vector<Operand>{slot(1)});
}

TEST(InstructionsTest, AutocastHoldsInItsRegionOnly) {
  AutocastRegion region({.enabled = true, .cached = false, .type = at::kBFloat16}, doubling());
  region.operands = {slot(0)};
  region.results = {{.slot = 1}};
  Frame frame{.slots = {at::ones({2, 2}), {}}, .stack = {}, .device = at::kCPU};
  region.run(frame);
  EXPECT_EQ(frame.slots[1].toTensor().scalar_type(), at::kBFloat16);
  EXPECT_FALSE(at::autocast::is_autocast_enabled(at::kCPU));
}

TEST(InstructionsTest, AConditionIsATensorOrATruthValue) {
  Condition condition(doubling(), doubling());
  condition.operands = {slot(0), slot(1)};
  condition.results = {{.slot = 2}};
  for (const c10::IValue& truth : {c10::IValue(true), c10::IValue(at::ones({}))}) {
    Frame frame{.slots = {truth, at::ones({2, 2}), {}}, .stack = {}, .device = at::kCPU};
    condition.run(frame);
    EXPECT_EQ(frame.slots[2].toTensor().sum().item<double>(), 8.0);
  }
}

TEST(InstructionsTest, BatchNormOfOneValueAChannelIsRefused) {
  BatchNormCall call(*OperatorTable({}).find("torch.ops.aten.batch_norm.default").handle);
  call.operands = {slot(0),
                   {},
                   {},
                   {},
                   {},
                   {.constant = true},
                   {.constant = 0.1},
                   {.constant = 1e-5},
                   {.constant = false}};
  call.results = {{.slot = 1}};
  Frame frame{.slots = {at::ones({1, 3}), {}}, .stack = {}, .device = at::kCPU};
  EXPECT_THROW(call.run(frame), c10::Error);
  frame.slots[0] = at::ones({2, 3});
  EXPECT_NO_THROW(call.run(frame));
  call.operands[0] = {.constant = at::ones({2, 3})};
  EXPECT_NO_THROW(call.run(frame));
}

}  // namespace instructions_test
}  // namespace pagoda
