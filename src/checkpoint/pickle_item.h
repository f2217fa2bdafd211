#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "checkpoint/pickle_value.h"
#include "checkpoint/stored_tensors.h"

namespace pagoda {

/// A function or class that a pickle may name.
struct PickleGlobal {
  enum class Kind { ordered_dict, tensor, parameter, storage };

  Kind kind;
  at::ScalarType type = at::kByte;  ///< of a storage

  /// Fails: DataError that names it, when it is not one of those.
  static PickleGlobal named(const std::string& name);
};

/// What lies on the stack while a pickle is read: a finished value, or a part of one that only the
/// reader sees. It knows its size, so that repeating it can be counted before it is done.
struct PickleItem {
  using Tuple = std::vector<PickleItem>;

  std::variant<PickleValue, PickleGlobal, StoredTensors::Storage, Tuple> content;
  int depth = 0;               ///< containers inside of each other
  std::size_t values = 1;      ///< in it, itself included
  std::size_t text_bytes = 0;  ///< in all of them

  /// Null when it is of another kind.
  template <class Kind>
  const Kind* as() const {
    return std::get_if<Kind>(&content);
  }

  template <class Kind>
  const Kind* value_as() const {
    const auto* value = as<PickleValue>();
    return value == nullptr ? nullptr : value->as<Kind>();
  }

  template <class Kind>
  Kind* value_as() {
    auto* value = std::get_if<PickleValue>(&content);
    return value == nullptr ? nullptr : std::get_if<Kind>(&value->content);
  }

  /// Adds what went into a container to its sizes. Fails: DataError when it is nested too deep.
  void count(const PickleItem& part);
};

/// Fails: DataError when it is, or holds, something that only the reader sees, or when a dict has a
/// key twice.
PickleValue finished(PickleItem item);

/// The tensor that `global(*arguments)` makes.
/// Fails: DataError that says what is wrong with the arguments.
at::Tensor made_tensor(PickleGlobal::Kind kind, const PickleItem::Tuple& arguments);

/// The storage that a persistent id, `('storage', class, key, location, elements)`, stands for.
/// Fails: DataError that says what is wrong with it.
StoredTensors::Storage named_storage(const PickleItem& id, StoredTensors& tensors);

}  // namespace pagoda
