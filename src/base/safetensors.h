#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_tensor.h"

namespace pagoda {

/// What a file of the safetensors format holds (github.com/huggingface/safetensors).
struct Safetensors {
  std::vector<FileTensor> tensors;              ///< by name
  std::map<std::string, std::string> metadata;  ///< what the file says of itself, such as format=pt
};

/// The longest header that the format allows, in bytes.
inline constexpr std::size_t kMostSafetensorsHeader = 100'000'000;

/// Takes a file apart. The file may come from anywhere: everything that it says is checked before it
/// is used, and the work is bounded by its header's size. Checked are the header's length and its
/// JSON, names, types and shapes, and that the tensors fill the rest of the file, each byte once.
/// (There is no checksum in the format: a flipped bit of a number cannot be seen.)
///
/// The tensors' bytes are those that were given. `name` stands in messages.
/// Fails: DataError that names the file and the tensor.
Safetensors parse_safetensors(std::string_view bytes, const std::string& name);

/// The beginning of a file: the header's length and the header for these tensors, whose bytes must
/// follow in this order without gaps. `FileTensor::bytes` is not looked at.
/// Fails: UsageError for a type that the format lacks, a name that is not UTF-8 or that it keeps for
/// itself, and for more names than a header can hold; the message names the tensor.
std::string safetensors_header(const std::vector<FileTensor>& tensors,
                               const std::map<std::string, std::string>& metadata);

/// What the format calls a type, such as "BF16"; null when it lacks it.
const char* safetensors_type(at::ScalarType type);

}  // namespace pagoda
