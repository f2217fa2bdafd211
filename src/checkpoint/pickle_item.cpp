#include "checkpoint/pickle_item.h"

#include <pagoda/base/error.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/quoted_text.h"
#include "checkpoint/pickle_reader.h"

namespace pagoda {
namespace {

using Kind = PickleGlobal::Kind;

const std::map<std::string, PickleGlobal>& known_globals() {
  static const std::map<std::string, PickleGlobal> known = {
      {"collections.OrderedDict", {Kind::ordered_dict}},
      {"torch._utils._rebuild_tensor_v2", {Kind::tensor}},
      {"torch._utils._rebuild_parameter", {Kind::parameter}},
      {"torch.FloatStorage", {Kind::storage, at::kFloat}},
      {"torch.DoubleStorage", {Kind::storage, at::kDouble}},
      {"torch.HalfStorage", {Kind::storage, at::kHalf}},
      {"torch.BFloat16Storage", {Kind::storage, at::kBFloat16}},
      {"torch.LongStorage", {Kind::storage, at::kLong}},
      {"torch.IntStorage", {Kind::storage, at::kInt}},
      {"torch.ShortStorage", {Kind::storage, at::kShort}},
      {"torch.CharStorage", {Kind::storage, at::kChar}},
      {"torch.ByteStorage", {Kind::storage, at::kByte}},
      {"torch.BoolStorage", {Kind::storage, at::kBool}},
      {"torch.ComplexFloatStorage", {Kind::storage, at::kComplexFloat}},
      {"torch.ComplexDoubleStorage", {Kind::storage, at::kComplexDouble}},
  };
  return known;
}

std::int64_t integer(const PickleItem& item, const char* what) {
  const auto* number = item.value_as<std::int64_t>();
  if (number == nullptr) throw DataError(std::string(what) + " of a tensor must be a whole number");
  return *number;
}

std::vector<std::int64_t> integers(const PickleItem& item, const char* what) {
  const auto* tuple = item.as<PickleItem::Tuple>();
  if (tuple == nullptr)
    throw DataError(std::string(what) + " of a tensor must be a tuple of whole numbers");
  std::vector<std::int64_t> numbers;
  for (const PickleItem& part : *tuple) numbers.push_back(integer(part, what));
  return numbers;
}

bool is_nothing(const PickleItem& item) {
  const auto* dict = item.value_as<PickleValue::Dict>();
  return item.value_as<PickleValue::None>() != nullptr || (dict != nullptr && dict->empty());
}

/// Storage, offset, sizes, strides, requires_grad, hooks and, for some, metadata. Whether a tensor
/// wants a gradient is for the model to say.
at::Tensor rebuilt_tensor(const PickleItem::Tuple& arguments) {
  if (arguments.size() != 6 && arguments.size() != 7)
    throw DataError("a tensor has " + std::to_string(arguments.size()) + " arguments, not 6 or 7");
  const auto* storage = arguments[0].as<StoredTensors::Storage>();
  if (storage == nullptr) throw DataError("a tensor lacks its storage");
  // Metadata say that the values are to be read conjugated or negated.
  if (!is_nothing(arguments[5]) || (arguments.size() == 7 && !is_nothing(arguments[6])))
    throw DataError("a tensor has hooks or metadata; save tensor.resolve_conj().resolve_neg()");
  return StoredTensors::tensor(*storage, {.offset = integer(arguments[1], "the offset"),
                                          .sizes = integers(arguments[2], "the sizes"),
                                          .strides = integers(arguments[3], "the strides")});
}

/// Tensor, requires_grad, hooks.
at::Tensor rebuilt_parameter(const PickleItem::Tuple& arguments) {
  const at::Tensor* tensor = arguments.size() == 3 ? arguments[0].value_as<at::Tensor>() : nullptr;
  if (tensor == nullptr || !is_nothing(arguments[2]))
    throw DataError("a parameter must have a tensor, a truth value and no hooks");
  return *tensor;
}

void check_keys(const PickleValue::Dict& dict) {
  std::vector<std::string_view> keys;
  keys.reserve(dict.size());
  for (const auto& entry : dict) keys.push_back(entry.key);
  std::sort(keys.begin(), keys.end());
  const auto twice = std::adjacent_find(keys.begin(), keys.end());
  if (twice != keys.end()) throw DataError("a dict has two entries " + quoted_text(*twice));
}

}  // namespace

PickleGlobal PickleGlobal::named(const std::string& name) {
  const auto found = known_globals().find(name);
  if (found == known_globals().end())
    throw DataError("it asks for " + quoted_text(name) + ", which a dict of tensors does not need");
  return found->second;
}

void PickleItem::count(const PickleItem& part) {
  depth = std::max(depth, part.depth + 1);
  values += part.values;
  text_bytes += part.text_bytes;
  if (depth > kMaxPickleDepth) {
    throw DataError("lists, tuples and dicts are nested more than " +
                    std::to_string(kMaxPickleDepth) + " deep");
  }
}

PickleValue finished(PickleItem item) {
  if (const auto* dict = item.value_as<PickleValue::Dict>()) check_keys(*dict);
  if (auto* value = std::get_if<PickleValue>(&item.content)) return std::move(*value);
  auto* tuple = std::get_if<PickleItem::Tuple>(&item.content);
  if (tuple == nullptr)
    throw DataError("a class or a bare storage stands where a tensor, number or text is expected");
  PickleValue::List list;
  list.reserve(tuple->size());
  for (PickleItem& part : *tuple) list.push_back(finished(std::move(part)));
  return {std::move(list)};
}

at::Tensor made_tensor(PickleGlobal::Kind kind, const PickleItem::Tuple& arguments) {
  return kind == Kind::tensor ? rebuilt_tensor(arguments) : rebuilt_parameter(arguments);
}

StoredTensors::Storage named_storage(const PickleItem& id, StoredTensors& tensors) {
  const auto* parts = id.as<PickleItem::Tuple>();
  if (parts == nullptr || parts->size() != 5) throw DataError("a storage's id must have 5 parts");
  const auto* tag = (*parts)[0].value_as<std::string>();
  const auto* global = (*parts)[1].as<PickleGlobal>();
  const auto* key = (*parts)[2].value_as<std::string>();
  const auto* elements = (*parts)[4].value_as<std::int64_t>();
  if (tag == nullptr || *tag != "storage" || global == nullptr || global->kind != Kind::storage ||
      key == nullptr || elements == nullptr)
    throw DataError("a storage's id must be ('storage', class, key, location, elements)");
  return tensors.storage(global->type, *key, *elements);
}

}  // namespace pagoda
