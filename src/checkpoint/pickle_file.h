#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include <ATen/core/ivalue.h>

#include "checkpoint/pickle_value.h"

namespace pagoda {

/// Writes a value (nested dicts and lists of tensors, numbers, text) so that Python's
/// `torch.load(weights_only=True)` reads it. The file is replaced whole or not at all.
/// Fails: IoError with the path and the system's reason.
void write_pickle(const c10::IValue& value, const std::filesystem::path& path);

/// The bytes of such a file.
std::string pickle_bytes(const c10::IValue& value);

/// Reads such a file, or what Python's `torch.save` writes. The file may come from anywhere: damage
/// is found by checksums, everything that it says is checked (zip_archive.h, pickle_reader.h,
/// stored_tensors.h), and time and memory are bounded by its size.
///
/// The tensors lie in the memory that the file was read into: one of them keeps all of it alive.
/// Fails: IoError when it cannot be read, DataError that names it when it is damaged or holds
/// something else; what runs out of memory throws std::bad_alloc or c10::Error, as it is.
PickleValue read_pickle(const std::filesystem::path& path);

/// The same for a file's bytes, which are aligned and kept alive by `owner`; without one, tensors
/// get memory of their own. `name` stands in messages.
PickleValue read_pickle(std::string_view bytes, const std::string& name,
                        std::shared_ptr<const void> owner = nullptr);

}  // namespace pagoda
