#pragma once

#include <pagoda/base/autocast.h>

#include <memory>
#include <optional>
#include <utility>

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/ScalarType.h>

#include "program/number_operators.h"
#include "program/program_block.h"

namespace pagoda {

/// Calls an operator through the dispatcher, so that autograd, autocast and towers see it as they
/// see any call.
class OperatorCall : public Instruction {
 public:
  explicit OperatorCall(c10::OperatorHandle handle) : handle_(std::move(handle)) {}
  void run(Frame& frame) const override;

 private:
  const c10::OperatorHandle handle_;
};

/// BatchNorm of one value a channel has no variance: Python refuses it before it calls the operator,
/// which would store numbers that are not finite.
class BatchNormCall : public OperatorCall {
 public:
  using OperatorCall::OperatorCall;
  void run(Frame& frame) const override;
};

class NumberCall : public Instruction {
 public:
  explicit NumberCall(NumberOperator number_operator) : operator_(number_operator) {}
  void run(Frame& frame) const override;

 private:
  const NumberOperator operator_;
};

/// A part of the program, run with or without gradients.
class GradRegion : public Instruction {
 public:
  GradRegion(bool enabled, std::unique_ptr<const ProgramBlock> block)
      : enabled_(enabled), block_(std::move(block)) {}
  void run(Frame& frame) const override;

 private:
  const bool enabled_;
  const std::unique_ptr<const ProgramBlock> block_;
};

/// A part of the program, run with autocast of the frame's device switched on or off.
class AutocastRegion : public Instruction {
 public:
  AutocastRegion(const Autocast& autocast, std::unique_ptr<const ProgramBlock> block)
      : autocast_(autocast), block_(std::move(block)) {}
  void run(Frame& frame) const override;

 private:
  const Autocast autocast_;
  const std::unique_ptr<const ProgramBlock> block_;
};

/// One of two parts of the program, as its first operand says.
class Condition : public Instruction {
 public:
  Condition(std::unique_ptr<const ProgramBlock> when_true,
            std::unique_ptr<const ProgramBlock> when_false)
      : when_true_(std::move(when_true)), when_false_(std::move(when_false)) {}
  void run(Frame& frame) const override;

 private:
  const std::unique_ptr<const ProgramBlock> when_true_;
  const std::unique_ptr<const ProgramBlock> when_false_;
};

}  // namespace pagoda
