#pragma once

#include <filesystem>

#include <ATen/core/ivalue.h>

namespace pagoda {

/// Writes a value (nested dicts and lists of tensors, numbers, text) so that Python's
/// `torch.load(weights_only=True)` reads it. The file is replaced whole or not at all.
/// Fails: IoError with the path and the system's reason.
void write_pickle(const c10::IValue& value, const std::filesystem::path& path);

/// Reads such a file, checksums and all.
/// Fails: IoError when it cannot be read, DataError that names it when it is damaged.
c10::IValue read_pickle(const std::filesystem::path& path);

}  // namespace pagoda
