#pragma once

#include <pagoda/checkpoint/state_dict.h>

#include <filesystem>
#include <vector>

namespace pagoda {

/// Writes tensors as a safetensors file, which Python reads with `safetensors.torch.load_file`.
/// Tensors are copied to CPU memory one at a time. The file is replaced whole or not at all.
/// Fails: UsageError that names a tensor whose type or name the format lacks, before anything is
/// written; IoError with the path and the system's reason.
void write_safetensors(const std::vector<NamedTensor>& tensors, const std::filesystem::path& path);

/// Reads such a file. The tensors lie in the file's mapping, which they keep alive: nothing is read
/// before it is used.
/// Fails: IoError when it cannot be read; DataError that names it and what is wrong with it.
WeightsFile read_safetensors(const std::filesystem::path& path);

}  // namespace pagoda
