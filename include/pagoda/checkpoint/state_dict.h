#pragma once

#include <pagoda/params/parameter_table.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace torch::nn {
class Module;
}

namespace pagoda {

/// Every name that the model knows a tensor by, sorted; tied ones under all of theirs. The entries
/// are the model's own tensors.
std::vector<NamedTensor> state_dict(const torch::nn::Module& module);

/// One line ("\n  name: how") for each tensor in which the two differ in name, type or shape; empty
/// when `found` can be assigned to `wanted`.
std::string differences(const std::vector<NamedTensor>& wanted,
                        const std::vector<NamedTensor>& found);

/// Copies the values of `from` into the tensors of `to` with the same names.
void assign(const std::vector<NamedTensor>& to, const std::vector<NamedTensor>& from);

/// The model's parameters and buffers as a file. Tensors are written contiguous and from CPU memory;
/// tied weights under all names. The path's extension says what file it is:
///
/// - `.safetensors`: the format of that name; in Python `safetensors.torch.load_file(path)`.
/// - any other, such as `.pt`: what Python reads with `torch.load(path, weights_only=True)` and
///   LibTorch with `torch::pickle_load`.
///
/// Either gives a dict of name to tensor for Python's `load_state_dict`. The file is replaced whole
/// or not at all.
/// Fails: IoError when it cannot be written; UsageError that names the tensor when its type or name
/// is none that a safetensors file can hold.
void save_state_dict(const torch::nn::Module& module, const std::filesystem::path& path);
/// The same for any tensors by name.
void save_state_dict(const std::vector<NamedTensor>& tensors, const std::filesystem::path& path);

/// What a file of weights holds.
struct WeightsFile {
  std::vector<NamedTensor> tensors;  ///< by name, in the file's order
  /// What a safetensors file says of itself, such as format = pt; nothing of other files.
  std::map<std::string, std::string> metadata = {};
};

/// Reads a file of weights: one that save_state_dict wrote, or Python's `safetensors`, or
/// `torch.save(model.state_dict(), path)`. The path's extension says which, as above. The file may
/// come from anywhere: whatever is in it, reading it runs nothing of it, and takes time and memory
/// in proportion to its size.
///
/// The tensors lie in the file's memory: one of them keeps all of it alive. A safetensors file is
/// mapped, so that nothing is read before it is used; it must not be cut off meanwhile.
/// Fails: IoError when it cannot be read; DataError that names the file when it is damaged (every
/// byte of a `.pt` file is covered by a checksum; a safetensors file has none), and the entry that
/// is not a tensor.
WeightsFile read_weights(const std::filesystem::path& path);

/// How a file's tensors find their places in a model.
///
/// Examples: `{.remove_prefix = "module."}` for a file of Python's DataParallel or
/// DistributedDataParallel; `{.strict = false, .add_prefix = "backbone."}` for a pretrained network
/// that is a part of the model.
struct LoadOptions {
  /// Model and file must have the same names. Otherwise what both have is loaded, and the rest of
  /// both is left alone; another shape or type is refused all the same.
  bool strict = true;
  /// Taken off the file's names; those that do not begin with it are not the model's.
  std::string remove_prefix = {};
  /// Put before the file's names, after that.
  std::string add_prefix = {};
};

/// What was left alone by LoadOptions::strict = false, sorted.
struct LoadResult {
  std::vector<std::string> missing;  ///< names in the model that the file lacks
  /// Names in the file, as they are there, that the model lacks.
  std::vector<std::string> unexpected;
};

/// Reads such a file into the model, in place.
///
/// Fails: as read_weights; DataError that lists what the model and the file differ in, or says that
/// they have no name in common; the model is then unchanged.
LoadResult load_state_dict(torch::nn::Module& module, const std::filesystem::path& path,
                           const LoadOptions& options = {});

}  // namespace pagoda
