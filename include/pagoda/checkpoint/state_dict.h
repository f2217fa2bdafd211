#pragma once

#include <pagoda/params/parameter_table.h>

#include <filesystem>
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

/// The model's parameters and buffers as a file that Python reads with
/// `torch.load(path, weights_only=True)`, a dict of name to tensor for `load_state_dict`, and
/// LibTorch with `torch::pickle_load`. Tensors are written contiguous and from CPU memory; tied
/// weights under all names.
///
/// The file is replaced whole or not at all.
/// Fails: IoError when it cannot be written.
void save_state_dict(const torch::nn::Module& module, const std::filesystem::path& path);
void save_state_dict(const std::vector<NamedTensor>& tensors, const std::filesystem::path& path);

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

/// Reads such a file, or one that Python wrote with `torch.save(model.state_dict(), path)`, into the
/// model, in place. The file may come from anywhere: whatever is in it, reading it runs nothing of
/// it, and takes time and memory in proportion to its size.
///
/// Fails: IoError when it cannot be read; DataError that names the file when it is damaged (every
/// byte is covered by a checksum), names the entry that is not a tensor, lists what the model and
/// the file differ in, or says that they have no name in common; the model is then unchanged.
LoadResult load_state_dict(torch::nn::Module& module, const std::filesystem::path& path,
                           const LoadOptions& options = {});

}  // namespace pagoda
