#include <pagoda/base/error.h>
#include <pagoda/checkpoint/state_dict.h>

#include <map>
#include <sstream>

#include <torch/nn/module.h>

#include "base/quoted_text.h"
#include "checkpoint/pickle_file.h"

namespace pagoda {
namespace {

using ByName = std::map<std::string, at::Tensor>;

ByName by_name(const std::vector<NamedTensor>& tensors) {
  ByName map;
  for (const auto& [name, tensor] : tensors) map.emplace(name, tensor);
  return map;
}

std::vector<NamedTensor> read_tensors(const std::filesystem::path& path) {
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
  const ByName wanted_names = by_name(wanted);
  const ByName found_names = by_name(found);
  std::string list;
  for (const auto& [name, tensor] : wanted_names) {
    const auto other = found_names.find(name);
    if (other == found_names.end()) {
      list += "\n  " + name + ": missing in the file";
    } else if (describe(other->second) != describe(tensor)) {
      list += "\n  " + name + ": " + describe(other->second) + " in the file, " + describe(tensor) +
              " in the model";
    }
  }
  for (const auto& [name, tensor] : found_names) {
    if (!wanted_names.contains(name)) list += "\n  " + name + ": unknown to the model";
  }
  return list;
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
  c10::impl::GenericDict dict(c10::StringType::get(), c10::AnyType::get());
  for (const auto& [name, tensor] : tensors) {
    dict.insert(name, tensor.detach().to(at::kCPU).contiguous());
  }
  write_pickle(dict, path);
}

void load_state_dict(torch::nn::Module& module, const std::filesystem::path& path) {
  const auto model = state_dict(module);
  const auto file = read_tensors(path);
  if (const std::string list = differences(model, file); !list.empty()) {
    throw DataError(path.string() + " does not fit the model:" + list);
  }
  assign(model, file);
}

}  // namespace pagoda
