#include <pagoda/checkpoint/state_dict.h>

#include <pagoda/base/error.h>

#include "checkpoint/pickle_file.h"

#include <map>
#include <sstream>

#include <torch/nn/module.h>

namespace pagoda {
namespace {

/// Every name that the model knows a tensor by, tied ones under all of them.
std::map<std::string, at::Tensor> tensors_of(const torch::nn::Module& module) {
  std::map<std::string, at::Tensor> tensors;
  for (const auto& item : module.named_parameters()) tensors.emplace(item.key(), item.value());
  for (const auto& item : module.named_buffers()) tensors.emplace(item.key(), item.value());
  return tensors;
}

std::map<std::string, at::Tensor> read_tensors(const std::filesystem::path& path) {
  const c10::IValue value = read_pickle(path);
  if (!value.isGenericDict()) throw DataError(path.string() + " holds no dict of tensors");
  std::map<std::string, at::Tensor> tensors;
  for (const auto& entry : value.toGenericDict()) {
    if (!entry.key().isString() || !entry.value().isTensor()) {
      throw DataError(path.string() + " holds something else than tensors by name; is it a whole checkpoint? "
                      "pagoda export writes the weights alone");
    }
    tensors.emplace(entry.key().toStringRef(), entry.value().toTensor());
  }
  return tensors;
}

std::string describe(const at::Tensor& tensor) {
  std::ostringstream text;
  text << tensor.scalar_type() << tensor.sizes();
  return text.str();
}

/// One line for each tensor in which the two differ; empty when they fit.
std::string differences(const std::map<std::string, at::Tensor>& model,
                        const std::map<std::string, at::Tensor>& file) {
  std::string list;
  for (const auto& [name, tensor] : model) {
    const auto found = file.find(name);
    if (found == file.end()) {
      list += "\n  " + name + ": missing in the file";
    } else if (describe(found->second) != describe(tensor)) {
      list += "\n  " + name + ": " + describe(found->second) + " in the file, " + describe(tensor) + " in the model";
    }
  }
  for (const auto& [name, tensor] : file) {
    if (!model.contains(name)) list += "\n  " + name + ": unknown to the model";
  }
  return list;
}

}  // namespace

void save_state_dict(const torch::nn::Module& module, const std::filesystem::path& path) {
  c10::impl::GenericDict dict(c10::StringType::get(), c10::AnyType::get());
  for (const auto& [name, tensor] : tensors_of(module)) {
    dict.insert(name, tensor.detach().to(at::kCPU).contiguous());
  }
  write_pickle(dict, path);
}

void load_state_dict(torch::nn::Module& module, const std::filesystem::path& path) {
  const auto model = tensors_of(module);
  const auto file = read_tensors(path);
  if (const std::string list = differences(model, file); !list.empty()) {
    throw DataError(path.string() + " does not fit the model:" + list);
  }
  at::NoGradGuard no_grad;
  for (const auto& [name, tensor] : model) tensor.copy_(file.at(name));
}

}  // namespace pagoda
