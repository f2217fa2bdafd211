#pragma once

#include <optional>
#include <string>
#include <vector>

#include <ATen/core/dispatch/Dispatcher.h>

namespace pagoda {

/// The operators that programs may call: LibTorch's own (`aten`), but for those that reach beyond
/// tensors, and those of the namespaces that the user names.
///
/// Threads: any; it does not change.
class OperatorTable {
 public:
  explicit OperatorTable(std::vector<std::string> namespaces);

  struct Found {
    std::optional<c10::OperatorHandle> handle = {};
    std::string refusal = {};  ///< why there is none
  };

  /// By the target of a node: "torch.ops.aten.add.Tensor".
  Found find(const std::string& target) const;

 private:
  std::vector<std::string> namespaces_;
};

/// The target for people: "aten::add.Tensor".
std::string operator_text(const std::string& target);

}  // namespace pagoda
