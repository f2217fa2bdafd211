#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "checkpoint/pickle_item.h"

namespace pagoda {

/// What a pickle's opcodes work on: a stack of items with marks in it, and the memo of items that
/// are repeated. Whatever the opcodes, it stays small: each item is counted before it is made or
/// copied, with all that is in it.
///
/// Fails: DataError when an opcode finds something else than it needs, or the counts are exceeded.
class PickleStack {
 public:
  /// For a pickle of so many bytes.
  explicit PickleStack(std::size_t pickle_bytes);

  void push(PickleItem item);
  void push_text(std::string_view text);
  void push_mark();

  /// How many items lie above the last mark, which is taken away.
  std::size_t pop_mark();

  /// The last item but `below`; marks are not crossed.
  PickleItem& top(std::size_t below = 0);
  PickleItem pop();

  /// Puts that many of the last items into a tuple, a list or a dict; the latter two lie below them.
  void make_tuple(std::size_t items);
  void append(std::size_t items);
  void set_items(std::size_t items);

  void remember(std::size_t index);
  void remember_next() { remember(memo_.size()); }

  /// Pushes what was remembered. Lists and dicts, which might hold themselves, cannot be repeated.
  void recall(std::size_t index);

  /// The only item that is left.
  PickleItem result();

 private:
  void count(std::size_t values, std::size_t text_bytes);
  void drop(std::size_t items);

  const std::size_t max_values_;
  std::size_t values_ = 0;
  std::size_t text_bytes_ = 0;
  std::vector<PickleItem> items_;
  std::vector<std::size_t> marks_;                         // how many items lay below each
  std::map<std::size_t, std::optional<PickleItem>> memo_;  // nothing for lists and dicts
};

}  // namespace pagoda
