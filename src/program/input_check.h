#pragma once

#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "program/graph.h"

namespace pagoda {

/// What a program demands of its inputs, told by name.
///
/// Threads: any; it does not change.
class InputCheck {
 public:
  explicit InputCheck(const GraphProgram& program);

  const std::vector<std::string>& names() const { return names_; }

  /// By input: the sizes that it must have, with -1 where any will do; none for a number.
  std::vector<std::vector<std::int64_t>> sizes() const;

  /// Inputs by name as the program has them. Fails: UsageError for names that are missing or not its
  /// own.
  std::vector<at::Tensor> in_order(const std::map<std::string, at::Tensor>& inputs) const;

  /// Fails: UsageError as "input x: 28 columns, the program was exported for 32".
  void check(const std::vector<at::Tensor>& inputs) const;

 private:
  std::vector<std::string> names_;
  std::vector<std::optional<TensorMeta>> expected_;  // nothing: a whole number
  std::map<std::string, SymbolRange> symbols_;
};

/// "float32 [s17, 3, 32, 32]".
std::string meta_text(const TensorMeta& meta);

}  // namespace pagoda
