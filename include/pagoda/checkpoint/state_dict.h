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

/// All parameters and buffers of the model, sorted by name; tied tensors are there under each of
/// their names. The entries are the model's own tensors.
std::vector<NamedTensor> state_dict(const torch::nn::Module& module);

/// One line ("\n  name: how") for each tensor whose name, type or shape differs between the two;
/// empty if `found` can be assigned to `wanted`.
std::string differences(const std::vector<NamedTensor>& wanted,
                        const std::vector<NamedTensor>& found);

/// Copies into each tensor of `to` the values that `from` has under the same name; `from` must have
/// them all.
void assign(const std::vector<NamedTensor>& to, const std::vector<NamedTensor>& from);

/// Writes the model's parameters and buffers to a file, contiguous and from CPU memory; tied
/// weights under each of their names. The path's extension determines the format:
///
/// - `.safetensors`: the format of that name; in Python `safetensors.torch.load_file(path)`.
/// - any other, such as `.pt`: what Python reads with `torch.load(path, weights_only=True)` and
///   LibTorch with `torch::pickle_load`.
///
/// Either gives a dict from name to tensor for Python's `load_state_dict`. The file is replaced
/// completely or not at all.
/// Fails: IoError when it cannot be written; UsageError that names the tensor when a safetensors
/// file cannot hold its type or name.
void save_state_dict(const torch::nn::Module& module, const std::filesystem::path& path);
/// The same for any named tensors.
void save_state_dict(const std::vector<NamedTensor>& tensors, const std::filesystem::path& path);

/// What a file of weights holds.
struct WeightsFile {
  std::vector<NamedTensor> tensors;  ///< named, in the file's order
  /// Metadata of a safetensors file, such as format = pt; empty for other files.
  std::map<std::string, std::string> metadata = {};
};

/// Reads a file of weights: one written by save_state_dict, by Python's `safetensors`, or by
/// `torch.save(model.state_dict(), path)`. The path's extension determines the format, as above.
/// The file need not be trusted: reading it never runs anything in it, and takes time and memory in
/// proportion to its size.
///
/// The tensors share the file's memory, so any one of them keeps all of it alive. A safetensors
/// file is memory-mapped, so that nothing is read before it is used; it must not be truncated
/// meanwhile.
/// Fails: IoError when it cannot be read; DataError that names the file when it is damaged (every
/// byte of a `.pt` file is covered by a checksum; a safetensors file has none), or the entry that
/// is not a tensor.
WeightsFile read_weights(const std::filesystem::path& path);

/// How a file's tensors are matched with those of a model.
///
/// Examples: `{.remove_prefix = "module."}` for a file saved from Python's DataParallel or
/// DistributedDataParallel; `{.strict = false, .add_prefix = "backbone."}` for a pretrained network
/// that is a part of the model.
struct LoadOptions {
  /// Model and file must have the same names. If false, what both have is loaded, and the rest of
  /// both is left alone; a different shape or type is refused all the same.
  bool strict = true;
  /// Prefix to remove from the file's names; names that do not begin with it are not the model's.
  std::string remove_prefix = {};
  /// Prefix to add to the file's names, after that.
  std::string add_prefix = {};
};

/// What was left alone because of LoadOptions::strict = false, sorted.
struct LoadResult {
  std::vector<std::string> missing;  ///< names in the model that the file lacks
  /// Names in the file, before any change of prefix, that the model lacks.
  std::vector<std::string> unexpected;
};

/// Reads a file of weights into the model, in place.
///
/// Fails: as read_weights; DataError that lists the differences between model and file, or says
/// that they have no name in common. The model is then unchanged.
LoadResult load_state_dict(torch::nn::Module& module, const std::filesystem::path& path,
                           const LoadOptions& options = {});

}  // namespace pagoda
