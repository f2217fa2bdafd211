#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <ATen/core/Tensor.h>

namespace pagoda {

/// What a pickle file holds: a tree whose depth and size the reader has bounded.
struct PickleValue {
  struct Entry;

  using None = std::monostate;
  using List = std::vector<PickleValue>;  ///< a list or a tuple
  using Dict = std::vector<Entry>;        ///< in the file's order, each key once

  std::variant<None, bool, std::int64_t, double, std::string, at::Tensor, List, Dict> content;

  /// Null when it is of another kind.
  template <class Kind>
  const Kind* as() const {
    return std::get_if<Kind>(&content);
  }

  /// "a tensor", "a whole number", …: for messages.
  const char* kind() const {
    constexpr const char* kKinds[] = {"None", "a truth value", "a whole number", "a number",
                                      "text", "a tensor",      "a list",         "a dict"};
    return kKinds[content.index()];
  }
};

struct PickleValue::Entry {
  std::string key;
  PickleValue value;
};

}  // namespace pagoda
