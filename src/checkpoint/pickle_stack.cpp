#include "checkpoint/pickle_stack.h"

#include <pagoda/base/error.h>

#include <algorithm>
#include <string>
#include <utility>

namespace pagoda {
namespace {

constexpr std::size_t kMaxValues = 4'000'000;  // of a hundred thousand tensors, at most 0.5 GB
constexpr std::size_t kMaxTextBytes = std::size_t{64} << 20;

/// torch.save comes to about one: an item costs a byte or more, and is counted again when it is
/// remembered or repeated.
constexpr std::size_t kMaxValuesPerByte = 4;

}  // namespace

PickleStack::PickleStack(std::size_t pickle_bytes)
    : max_values_(std::min(pickle_bytes, kMaxValues / kMaxValuesPerByte) * kMaxValuesPerByte) {}

void PickleStack::count(std::size_t values, std::size_t text_bytes) {
  values_ += values;
  text_bytes_ += text_bytes;
  if (values_ > max_values_)
    throw DataError("it holds more than " + std::to_string(max_values_) + " values");
  if (text_bytes_ > kMaxTextBytes)
    throw DataError("it holds more than " + std::to_string(kMaxTextBytes) + " bytes of text");
}

void PickleStack::push(PickleItem item) {
  count(1, 0);
  items_.push_back(std::move(item));
}

void PickleStack::push_text(std::string_view text) {
  count(0, text.size());
  push({.content = PickleValue{std::string(text)}, .text_bytes = text.size()});
}

void PickleStack::push_mark() {
  count(1, 0);
  marks_.push_back(items_.size());
}

std::size_t PickleStack::pop_mark() {
  if (marks_.empty()) throw DataError("a mark is missing");
  const std::size_t mark = marks_.back();
  marks_.pop_back();
  return items_.size() - mark;
}

PickleItem& PickleStack::top(std::size_t below) {
  const std::size_t floor = marks_.empty() ? 0 : marks_.back();
  if (items_.size() - floor <= below) throw DataError("it takes a value where there is none");
  return items_[items_.size() - 1 - below];
}

PickleItem PickleStack::pop() {
  PickleItem item = std::move(top());
  items_.pop_back();
  return item;
}

void PickleStack::drop(std::size_t items) {
  items_.erase(items_.end() - static_cast<std::ptrdiff_t>(items), items_.end());
}

void PickleStack::make_tuple(std::size_t items) {
  if (items > 0) top(items - 1);
  PickleItem::Tuple parts;
  parts.reserve(items);
  PickleItem tuple{.content = PickleItem::Tuple(), .depth = 1};
  for (std::size_t i = items_.size() - items; i < items_.size(); ++i) {
    tuple.count(items_[i]);
    parts.push_back(std::move(items_[i]));
  }
  drop(items);
  tuple.content = std::move(parts);
  push(std::move(tuple));
}

void PickleStack::append(std::size_t items) {
  PickleItem& target = top(items);
  auto* list = target.value_as<PickleValue::List>();
  if (list == nullptr) throw DataError("it appends to what is no list");
  for (std::size_t i = items_.size() - items; i < items_.size(); ++i) {
    target.count(items_[i]);
    list->push_back(finished(std::move(items_[i])));
  }
  drop(items);
}

void PickleStack::set_items(std::size_t items) {
  PickleItem& target = top(items);
  auto* dict = target.value_as<PickleValue::Dict>();
  if (dict == nullptr || items % 2 != 0) throw DataError("it sets items of what is no dict");
  for (std::size_t i = items_.size() - items; i < items_.size(); i += 2) {
    auto* key = items_[i].value_as<std::string>();
    if (key == nullptr) throw DataError("the key of a dict is not text");
    target.count(items_[i]);
    target.count(items_[i + 1]);
    dict->push_back({std::move(*key), finished(std::move(items_[i + 1]))});
  }
  drop(items);
}

void PickleStack::remember(std::size_t index) {
  PickleItem& item = top();
  const bool grows = item.value_as<PickleValue::List>() || item.value_as<PickleValue::Dict>();
  if (grows) {
    count(1, 0);
    memo_.insert_or_assign(index, std::nullopt);
  } else {
    count(item.values, item.text_bytes);
    memo_.insert_or_assign(index, item);
  }
}

void PickleStack::recall(std::size_t index) {
  const auto found = memo_.find(index);
  if (found == memo_.end())
    throw DataError("it repeats value " + std::to_string(index) + ", which it does not have");
  const auto& item = found->second;
  if (!item) throw DataError("it holds one list or dict in two places");
  count(item->values, item->text_bytes);
  items_.push_back(*item);
}

PickleItem PickleStack::result() {
  if (items_.size() != 1 || !marks_.empty()) throw DataError("it must leave exactly one value");
  return pop();
}

}  // namespace pagoda
