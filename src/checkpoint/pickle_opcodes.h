#pragma once

namespace pagoda {

/// The opcodes that dicts of tensors are written with, under the names of CPython's
/// Lib/pickletools.py, which describes each.
enum class PickleOpcode : unsigned char {
  none = 'N',
  new_true = 0x88,
  new_false = 0x89,
  bin_int = 'J',
  bin_int1 = 'K',
  bin_int2 = 'M',
  long1 = 0x8a,
  bin_float = 'G',
  bin_unicode = 'X',
  short_bin_unicode = 0x8c,

  mark = '(',
  empty_list = ']',
  append = 'a',
  appends = 'e',
  empty_dict = '}',
  set_item = 's',
  set_items = 'u',
  empty_tuple = ')',
  tuple = 't',
  tuple1 = 0x85,
  tuple2 = 0x86,
  tuple3 = 0x87,

  bin_put = 'q',
  long_bin_put = 'r',
  memoize = 0x94,
  bin_get = 'h',
  long_bin_get = 'j',

  global = 'c',
  stack_global = 0x93,
  bin_pers_id = 'Q',
  reduce = 'R',
  build = 'b',

  proto = 0x80,
  frame = 0x95,
  stop = '.',
};

}  // namespace pagoda
