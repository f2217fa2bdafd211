#include <pagoda/base/error.h>
#include <pagoda/checkpoint/state_dict.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <utility>

#include <torch/nn/module.h>

#include "base/quoted_text.h"
#include "checkpoint/pickle_file.h"
#include "checkpoint/safetensors_file.h"

namespace pagoda {
namespace {

using ByName = std::map<std::string, at::Tensor>;

ByName by_name(const std::vector<NamedTensor>& tensors) {
  ByName map;
  for (const auto& [name, tensor] : tensors) map.emplace(name, tensor);
  return map;
}

bool is_safetensors(const std::filesystem::path& path) {
  return path.extension() == ".safetensors";
}

std::vector<NamedTensor> read_pickled(const std::filesystem::path& path) {
  const PickleValue value = read_pickle(path);
  const auto* dict = value.as<PickleValue::Dict>();
  if (dict == nullptr) throw DataError(path.string() + " is not a state dict, but " + value.kind());
  std::vector<NamedTensor> tensors;
  for (const auto& [name, entry] : *dict) {
    const auto* tensor = entry.as<at::Tensor>();
    if (tensor == nullptr) {
      throw DataError(path.string() + " is not a state dict: its entry " + quoted_text(name) +
                      " is " + entry.kind() +
                      ", not a tensor; the weights of a whole checkpoint are "
                      "read_checkpoint(path).model");
    }
    tensors.push_back({name, *tensor});
  }
  return tensors;
}

std::string describe(const at::Tensor& tensor) {
  std::ostringstream text;
  text << tensor.scalar_type() << tensor.sizes();
  return text.str();
}

/// What a model and a file have in common, and what they differ in.
struct Comparison {
  std::vector<NamedTensor> common = {};  // the model's tensors that the file has too
  std::vector<std::string> missing = {};
  std::vector<std::string> unexpected = {};
  std::string unlike = {};  // a line ("\n  name: how") for each common one of another type or shape
};

Comparison compared(const std::vector<NamedTensor>& wanted, const std::vector<NamedTensor>& found) {
  const ByName wanted_names = by_name(wanted);
  const ByName found_names = by_name(found);
  Comparison result;
  for (const auto& [name, tensor] : wanted_names) {
    const auto other = found_names.find(name);
    if (other == found_names.end()) {
      result.missing.push_back(name);
      continue;
    }
    result.common.push_back({name, tensor});
    if (describe(other->second) != describe(tensor)) {
      result.unlike += "\n  " + name + ": " + describe(other->second) + " in the file, " +
                       describe(tensor) + " in the model";
    }
  }
  for (const auto& [name, tensor] : found_names) {
    if (!wanted_names.contains(name)) result.unexpected.push_back(name);
  }
  return result;
}

std::string lines_of(const Comparison& comparison) {
  std::string lines;
  for (const auto& name : comparison.missing) lines += "\n  " + name + ": missing in the file";
  lines += comparison.unlike;
  for (const auto& name : comparison.unexpected) lines += "\n  " + name + ": unknown to the model";
  return lines;
}

/// The file's tensors, compared under the names that they would have in the model; `unexpected` has
/// the file's own.
struct Renamed {
  std::vector<NamedTensor> tensors;
  Comparison comparison;
};

Renamed renamed(const std::vector<NamedTensor>& file, const std::vector<NamedTensor>& model,
                const LoadOptions& options) {
  std::vector<NamedTensor> tensors;
  std::map<std::string, std::string> file_names;  // by the names in the model
  std::vector<std::string> others;
  for (const auto& [name, tensor] : file) {
    if (!name.starts_with(options.remove_prefix)) {
      others.push_back(name);
      continue;
    }
    tensors.push_back({options.add_prefix + name.substr(options.remove_prefix.size()), tensor});
    file_names.emplace(tensors.back().name, name);
  }
  Comparison comparison = compared(model, tensors);
  for (auto& name : comparison.unexpected) name = file_names.at(name);
  comparison.unexpected.insert(comparison.unexpected.end(), others.begin(), others.end());
  std::sort(comparison.unexpected.begin(), comparison.unexpected.end());
  return {std::move(tensors), std::move(comparison)};
}

void check_fit(const Comparison& comparison, const LoadOptions& options,
               const std::filesystem::path& path) {
  const bool has_both = !comparison.missing.empty() && !comparison.unexpected.empty();
  if (comparison.common.empty() && has_both) {
    throw DataError(path.string() + " has no tensor of the model: its names are such as " +
                    quoted_text(comparison.unexpected.front()) + ", the model's such as " +
                    quoted_text(comparison.missing.front()) +
                    "; load another file, or with a prefix removed or added");
  }
  const std::string list = options.strict ? lines_of(comparison) : comparison.unlike;
  if (!list.empty()) throw DataError(path.string() + " does not fit the model:" + list);
}

}  // namespace

std::vector<NamedTensor> state_dict(const torch::nn::Module& module) {
  ByName tensors;
  for (const auto& item : module.named_parameters()) tensors.emplace(item.key(), item.value());
  for (const auto& item : module.named_buffers()) tensors.emplace(item.key(), item.value());
  std::vector<NamedTensor> sorted;
  for (const auto& [name, tensor] : tensors) sorted.push_back({name, tensor});
  return sorted;
}

std::string differences(const std::vector<NamedTensor>& wanted,
                        const std::vector<NamedTensor>& found) {
  return lines_of(compared(wanted, found));
}

void assign(const std::vector<NamedTensor>& to, const std::vector<NamedTensor>& from) {
  at::NoGradGuard no_grad;
  const ByName values = by_name(from);
  for (const auto& [name, tensor] : to) tensor.copy_(values.at(name));
}

void save_state_dict(const torch::nn::Module& module, const std::filesystem::path& path) {
  save_state_dict(state_dict(module), path);
}

void save_state_dict(const std::vector<NamedTensor>& tensors, const std::filesystem::path& path) {
  if (is_safetensors(path)) return write_safetensors(tensors, path);
  c10::impl::GenericDict dict(c10::StringType::get(), c10::AnyType::get());
  for (const auto& [name, tensor] : tensors) {
    dict.insert(name, tensor.detach().to(at::kCPU).contiguous());
  }
  write_pickle(dict, path);
}

WeightsFile read_weights(const std::filesystem::path& path) {
  if (is_safetensors(path)) return read_safetensors(path);
  return {.tensors = read_pickled(path)};
}

LoadResult load_state_dict(torch::nn::Module& module, const std::filesystem::path& path,
                           const LoadOptions& options) {
  const Renamed file = renamed(read_weights(path).tensors, state_dict(module), options);
  check_fit(file.comparison, options, path);
  assign(file.comparison.common, file.tensors);
  return {.missing = file.comparison.missing, .unexpected = file.comparison.unexpected};
}

}  // namespace pagoda
