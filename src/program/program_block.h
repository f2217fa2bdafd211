#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <ATen/core/ivalue.h>
#include <ATen/core/jit_type_base.h>
#include <c10/core/Device.h>

namespace pagoda {

/// The values of one run of a block: those of its slots, and what instructions put arguments on.
struct Frame {
  std::vector<c10::IValue> slots;
  std::vector<c10::IValue> stack;
  c10::Device device;  ///< takes the place of every device that the program names
};

/// Where an instruction takes a value from.
struct Operand {
  enum class Source : std::uint8_t {
    constant,
    slot,
    last_use,  ///< a slot that nobody needs afterwards: its value is moved out
    device,
    list,
  };
  enum class Change : std::uint8_t {
    none,
    to_double,  ///< a number that may be whole
    to_tensor,  ///< a number where the operator takes a tensor; it does not decide the type
  };

  Source source = Source::constant;
  Change change = Change::none;
  int slot = -1;
  c10::IValue constant = {};
  std::vector<Operand> items = {};  ///< of a list
  c10::TypePtr element = nullptr;   ///< of a list

  c10::IValue take(Frame& frame) const;
};

/// Where a result goes: a slot, several for the members of a list, or nowhere.
struct Result {
  int slot = -1;
  bool is_list = false;
  std::vector<int> items = {};
};

/// A number where an operator takes a tensor, as Python gives it: it does not decide the type of
/// what it is combined with.
at::Tensor number_tensor(const c10::IValue& number);

/// One call of a program.
struct Instruction {
  virtual ~Instruction() = default;
  virtual void run(Frame& frame) const = 0;

  std::vector<Operand> operands = {};
  std::vector<Result> results = {};
  std::string about = {};  ///< operator and module, for messages

 protected:
  /// Puts values where the results go.
  void store(Frame& frame, std::vector<c10::IValue>& values) const;
};

/// A graph made ready to run: operators are looked up, values have numbers, and each is let go after
/// its last use.
///
/// Threads: any number at once; it does not change.
class ProgramBlock {
 public:
  /// Inputs have the first slots.
  ProgramBlock(int slots, std::vector<std::unique_ptr<Instruction>> instructions,
               std::vector<Operand> outputs);

  /// Fails: what an operator throws, with operator and module added.
  std::vector<c10::IValue> run(std::vector<c10::IValue> inputs, c10::Device device) const;

 private:
  void mark_last_uses();

  const int slots_;
  std::vector<std::unique_ptr<Instruction>> instructions_;
  std::vector<Operand> outputs_;
};

}  // namespace pagoda
