#include "optim/torch_optimizer_archive.h"

#include <pagoda/base/error.h>

#include <algorithm>
#include <map>
#include <string>
#include <typeinfo>
#include <utility>

#include <ATen/ops/empty.h>
#include <c10/util/Type.h>
#include <torch/csrc/jit/api/compilation_unit.h>
#include <torch/optim/adagrad.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/rmsprop.h>
#include <torch/optim/sgd.h>
#include <torch/serialize/archive.h>

#include "base/zip_archive.h"

namespace pagoda {
namespace {

// The archive's entries.
constexpr const char* kClass = "optimizer_class";
constexpr const char* kParameters = "parameter_names";
constexpr const char* kOptimizer = "optimizer";

using Names = std::vector<std::string>;

std::string class_of(const torch::optim::Optimizer& optimizer) {
  return c10::demangle(typeid(optimizer).name());
}

/// "<group>/<name>" of every parameter, in the optimizer's order: its state is kept by position.
Names names_in_groups(const torch::optim::Optimizer& optimizer,
                      const std::vector<NamedTensor>& parameters) {
  std::map<const void*, std::string> known;
  for (const auto& [name, tensor] : parameters) known.emplace(tensor.unsafeGetTensorImpl(), name);
  Names names;
  const auto& groups = optimizer.param_groups();
  for (std::size_t group = 0; group < groups.size(); ++group) {
    for (const at::Tensor& parameter : groups[group].params()) {
      const auto found = known.find(parameter.unsafeGetTensorImpl());
      names.push_back(std::to_string(group) + "/" +
                      (found == known.end() ? "(not trained)" : found->second));
    }
  }
  return names;
}

/// An archive is an object whose class gets a field for each entry.
bool is_empty(const torch::serialize::OutputArchive& archive) {
  const auto type = archive.compilation_unit()->get_class(c10::QualifiedName("__torch__.Module"));
  return type != nullptr && type->numAttributes() == 0;
}

at::Tensor bytes_of(torch::serialize::OutputArchive& archive) {
  std::string bytes;
  archive.save_to([&](const void* data, std::size_t size) {
    bytes.append(static_cast<const char*>(data), size);
    return size;
  });
  at::Tensor tensor = at::empty({static_cast<std::int64_t>(bytes.size())}, at::kByte);
  std::copy(bytes.begin(), bytes.end(), static_cast<char*>(tensor.mutable_data_ptr()));
  return tensor;
}

std::string first_difference(const Names& saved, const Names& own) {
  for (std::size_t i = 0; i < std::max(saved.size(), own.size()); ++i) {
    const std::string theirs = i < saved.size() ? "'" + saved[i] + "'" : "missing";
    const std::string ours = i < own.size() ? "'" + own[i] + "'" : "missing";
    if (theirs != ours) {
      return "parameter " + std::to_string(i) + " (group/name) is " + theirs +
             " in the saved state and " + ours + " in this optimizer";
    }
  }
  return "";
}

void check_fits(torch::serialize::InputArchive& archive, const std::string& own_class,
                const Names& own_names) {
  c10::IValue value;
  archive.read(kClass, value);
  if (value.toStringRef() != own_class) {
    throw DataError("the saved state is of a " + value.toStringRef() +
                    ", this run updates with a " + own_class +
                    "; resume with the optimizer that the run was started with");
  }
  archive.read(kParameters, value);
  Names saved;
  for (const auto& name : value.toListRef()) saved.push_back(name.toStringRef());
  if (const std::string how = first_difference(saved, own_names); !how.empty()) {
    throw DataError("the saved state of " + own_class + " does not fit its parameters: " + how);
  }
}

DataError unreadable(const std::string& own_class, const std::string& reason) {
  return DataError("the saved state of " + own_class + " cannot be read: " + reason);
}

/// LibTorch's own optimizers make what a parameter lacks at its next update, and their load()
/// leaves alone what is not in the archive.
bool starts_without_state(const torch::optim::Optimizer& optimizer) {
  const auto is_a = [&]<class Known>() {
    return dynamic_cast<const Known*>(&optimizer) != nullptr;
  };
  return is_a.operator()<torch::optim::SGD>() || is_a.operator()<torch::optim::Adam>() ||
         is_a.operator()<torch::optim::AdamW>() || is_a.operator()<torch::optim::Adagrad>() ||
         is_a.operator()<torch::optim::RMSprop>();
}

void replace_state(torch::optim::Optimizer& optimizer, torch::serialize::InputArchive& saved) {
  if (!starts_without_state(optimizer)) return optimizer.load(saved);
  auto before = std::exchange(optimizer.state(), {});
  try {
    optimizer.load(saved);
  } catch (...) {
    optimizer.state() = std::move(before);
    throw;
  }
}

}  // namespace

at::Tensor archive_of(const torch::optim::Optimizer& optimizer,
                      const std::vector<NamedTensor>& parameters) {
  torch::serialize::OutputArchive saved;
  try {
    optimizer.save(saved);
  } catch (const c10::Error& error) {
    throw UsageError("the state of " + class_of(optimizer) +
                     " cannot be saved: " + error.what_without_backtrace());
  }
  if (is_empty(saved)) {
    throw UsageError("the state of " + class_of(optimizer) +
                     " cannot be saved: its save() writes nothing; override save() and load() of "
                     "torch::optim::Optimizer, with at least one entry");
  }
  torch::serialize::OutputArchive archive(saved.compilation_unit());
  archive.write(kClass, c10::IValue(class_of(optimizer)));
  archive.write(kParameters, c10::IValue(names_in_groups(optimizer, parameters)));
  archive.write(kOptimizer, saved);
  return bytes_of(archive);
}

void load_archive(torch::optim::Optimizer& optimizer, const std::vector<NamedTensor>& parameters,
                  const at::Tensor& archive) {
  const std::string own_class = class_of(optimizer);
  if (!archive.defined()) {
    throw DataError("there is no saved state of a " + own_class +
                    ": the run was saved with a built-in optimizer, or by a version of Pagoda that "
                    "did not save such states; to start the optimizer afresh, take over the "
                    "weights alone, as docs/formats/checkpoint.md shows");
  }
  const auto* start = static_cast<const char*>(archive.const_data_ptr());
  const auto size = static_cast<std::size_t>(archive.numel());
  // LibTorch reads it without looking at its checksums.
  ZipArchive({start, size}, "the saved state of " + own_class, ZipArchive::Compressed::check);
  try {
    torch::serialize::InputArchive whole;
    whole.load_from(start, size);
    check_fits(whole, own_class, names_in_groups(optimizer, parameters));
    torch::serialize::InputArchive saved;
    whole.read(kOptimizer, saved);
    replace_state(optimizer, saved);
  } catch (const Error&) {
    throw;
  } catch (const c10::Error& error) {
    throw unreadable(own_class, error.what_without_backtrace());
  } catch (const std::exception& error) {
    throw unreadable(own_class, error.what());
  }
}

}  // namespace pagoda
