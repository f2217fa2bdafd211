#pragma once

#include <pagoda/device/device.h>

#include <optional>
#include <string_view>
#include <vector>

namespace pagoda {

/// The environment variables that hide devices from the process and renumber the others from 0.
inline constexpr const char* kCudaMask = "CUDA_VISIBLE_DEVICES";
inline constexpr const char* kOtherMask = "PAGODA_VISIBLE_DEVICES";

/// One entry of a mask that counts.
struct MaskEntry {
  int number = -1;  ///< -1 for an entry that names a card by its UUID
};

/// The entries of a mask, in order, as CUDA reads CUDA_VISIBLE_DEVICES: numbers, of which what
/// follows the digits is ignored, or UUIDs ("GPU-…", "MIG-…"). Everything from the first entry on
/// that is neither, or negative, is hidden; a device that is named twice hides all. Quotation marks
/// around the whole are ignored.
///
/// An entry may name its kind ("sim:1"); it then counts for that kind only. A mask whose entries
/// are all for other kinds gives nothing: it does not mask this one.
std::optional<std::vector<MaskEntry>> parse_mask(std::string_view text, DeviceKind kind);

/// The numbers of the visible ones among `count` devices, in the order of their new numbers.
/// A number that is not there ends the list. Without a mask: all.
std::vector<int> visible_numbers(std::optional<std::string_view> mask, DeviceKind kind, int count);

/// The same with the mask that the environment has for this kind.
std::vector<int> visible_numbers(DeviceKind kind, int count);

/// The mask of the environment for a kind of device; unset when there is none.
std::optional<std::string_view> mask_of(DeviceKind kind);

}  // namespace pagoda
