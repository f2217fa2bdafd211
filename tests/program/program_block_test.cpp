#include "program/program_block.h"

#include <pagoda/base/error.h>

#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

namespace pagoda {
namespace program_block_test {

/// Hands its operands on, and counts who else holds the first.
struct Pass : Instruction {
  explicit Pass(std::vector<std::int64_t>& holders) : holders_(holders) {}
  void run(Frame& frame) const override {
    std::vector<c10::IValue> values;
    for (const Operand& operand : operands) values.push_back(operand.take(frame));
    holders_.push_back(static_cast<std::int64_t>(values[0].toTensor().use_count()));
    store(frame, values);
  }
  std::vector<std::int64_t>& holders_;
};

std::unique_ptr<Pass> pass(std::vector<std::int64_t>& holders, int from, int to) {
  auto instruction = std::make_unique<Pass>(holders);
  instruction->operands.push_back({.source = Operand::Source::slot, .slot = from});
  instruction->results.push_back({.slot = to});
  instruction->about = "pass";
  return instruction;
}

TEST(ProgramBlockTest, AValueIsLetGoAfterItsLastUse) {
  std::vector<std::int64_t> holders;
  std::vector<std::unique_ptr<Instruction>> instructions;
  instructions.push_back(pass(holders, 0, 1));  // slot 0 is needed again
  instructions.push_back(pass(holders, 0, 2));  // and now no more; nobody needs slot 2
  const ProgramBlock block(3, std::move(instructions),
                           {{.source = Operand::Source::slot, .slot = 1}});
  std::vector<c10::IValue> inputs;
  inputs.emplace_back(at::ones({2}));
  const auto outputs = block.run(std::move(inputs), at::kCPU);
  EXPECT_EQ(holders, (std::vector<std::int64_t>{2, 2}));  // slot 0 and it; slot 1 and it
  EXPECT_EQ(outputs[0].toTensor().use_count(), 1);
}

TEST(ProgramBlockTest, DevicesAndNumbersAreMadeForTheCall) {
  Frame frame{.slots = {c10::IValue(3)}, .stack = {}, .device = c10::Device(c10::kCUDA, 1)};
  EXPECT_EQ((Operand{.source = Operand::Source::device}.take(frame).toDevice()), frame.device);
  Operand number{.source = Operand::Source::slot, .change = Operand::Change::to_tensor, .slot = 0};
  EXPECT_TRUE(number.take(frame).toTensor().unsafeGetTensorImpl()->is_wrapped_number());
  number.change = Operand::Change::to_double;
  EXPECT_EQ(number.take(frame).toDouble(), 3.0);
}

TEST(ProgramBlockTest, FewerResultsThanExpectedAreTold) {
  std::vector<std::int64_t> holders;
  auto instruction = pass(holders, 0, 1);
  instruction->results.push_back({.slot = 2});
  std::vector<std::unique_ptr<Instruction>> instructions;
  instructions.push_back(std::move(instruction));
  const ProgramBlock block(3, std::move(instructions),
                           {{.source = Operand::Source::slot, .slot = 2}});
  EXPECT_THROW(block.run({at::ones({1})}, at::kCPU), DataError);
}

}  // namespace program_block_test
}  // namespace pagoda
