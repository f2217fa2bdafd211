#pragma once

#include <string>
#include <string_view>

#include "checkpoint/pickle_value.h"
#include "checkpoint/stored_tensors.h"

namespace pagoda {

/// The value of a pickle as `torch.save` and `write_pickle` write them: dicts, OrderedDicts (whose
/// attributes, such as the `_metadata` of a state dict, are passed over), lists, tuples, tensors,
/// parameters, text, 64-bit numbers, truth values and None; keys are text.
///
/// The pickle may come from anywhere. It can call nothing: the name of a function or class other
/// than those of tensors is refused. Time and memory are bounded by its size: values are counted,
/// also those that are repeated, text is counted, and nesting is at most `kMaxPickleDepth` deep.
///
/// Fails: DataError that begins with `where`, and says at which byte what was found.
PickleValue parse_pickle(std::string_view pickle, StoredTensors& tensors, const std::string& where);

inline constexpr int kMaxPickleDepth = 64;

}  // namespace pagoda
