#include <pagoda/base/error.h>
#include <pagoda/program/exported_model.h>

#include <algorithm>
#include <utility>

#include <ATen/ops/scalar_tensor.h>

#include "base/quoted_text.h"
#include "program/loaded_program.h"

namespace pagoda {
namespace {

/// The module of that path below `root`, made where it is not there yet.
torch::nn::Module& module_at(torch::nn::Module& root, const std::string& path) {
  torch::nn::Module* module = &root;
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    const std::string name = path.substr(begin, end - begin);
    const auto children = module->named_children();
    const auto* known = children.find(name);
    module = known != nullptr
                 ? known->get()
                 : module->register_module(name, std::make_shared<torch::nn::Module>(name)).get();
    begin = end + 1;
  }
  return *module;
}

/// An output as a tensor.
at::Tensor tensor_of(c10::IValue value) {
  if (value.isTensor()) return std::move(value).toTensor();
  if (value.isNone() || value.isString()) return {};
  return at::scalar_tensor(value.toScalar(), value.isDouble() ? at::kDouble
                                             : value.isBool() ? at::kBool
                                                              : at::kLong);
}

/// A number that came as a tensor.
c10::IValue number_of(const at::Tensor& tensor) { return tensor.item(); }

/// Which tensors of the state each part uses. Those that none uses are the first's.
std::vector<Tensors> layer_tensors(const std::vector<ProgramPart>& parts, const Tensors& state) {
  std::vector<Tensors> tensors(parts.size());
  std::map<const c10::TensorImpl*, std::size_t> owners;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (const InputSource& source : parts[i].sources) {
      if (source.kind != InputSource::Kind::state) continue;
      const at::Tensor& tensor = state[source.index];
      const auto [owner, is_new] = owners.emplace(tensor.unsafeGetTensorImpl(), i);
      if (is_new) tensors[i].push_back(tensor);
      if (owner->second == i) continue;
      throw UsageError("the layers " + quoted_text(parts[owner->second].name) + " and " +
                       quoted_text(parts[i].name) +
                       " of the program use the same parameter or buffer; cut it elsewhere");
    }
  }
  for (const at::Tensor& tensor : state) {
    if (owners.emplace(tensor.unsafeGetTensorImpl(), 0).second) tensors[0].push_back(tensor);
  }
  return tensors;
}

/// What a run of a program reads beside its state: no checkpoint and no other tower would see it changed.
class UsedConstants {
 public:
  void add(const NamedTensor& constant, torch::Device device) {
    at::Tensor tensor = constant.tensor.to(device);
    const std::uint32_t version = tensor.is_inference() ? 0 : tensor._version();
    used_.push_back({&constant.name, std::move(tensor), version});
  }
  const at::Tensor& last() const { return used_.back().tensor; }

  void expect_unchanged() const {
    for (const auto& [name, tensor, version] : used_) {
      if (tensor.is_inference() || tensor._version() == version) continue;
      throw UsageError("the program changes " + quoted_text(*name) +
                       ", which is not part of its state, so that no checkpoint has it; register "
                       "the buffer with persistent=True before exporting");
    }
  }

 private:
  struct Used {
    const std::string* name;
    at::Tensor tensor;
    std::uint32_t version;
  };
  std::vector<Used> used_;
};

[[noreturn]] void refuse_type() {
  throw UsageError(
      "an exported model computes in the types that it was exported with; export it in the type "
      "that you want, or train it in mixed precision");
}

}  // namespace

ExportedModelImpl::ExportedModelImpl(const std::filesystem::path& file,
                                     const ProgramOptions& options)
    : ExportedModelImpl(ExportedProgram(file, options)) {}

ExportedModelImpl::ExportedModelImpl(const ExportedProgram& program)
    : torch::nn::Module("ExportedModel"), code_(program.loaded().code) {
  try {
    register_state(program.loaded());
  } catch (const c10::Error& error) {
    throw DataError(program.loaded().file + " cannot be used: " + error.what_without_backtrace());
  }
  for (const auto& [name, tensor] : program.loaded().constants)
    constants_.push_back({name, tensor.clone()});
}

void ExportedModelImpl::register_state(const LoadedProgram& program) {
  for (std::size_t i = 0; i < program.state.size(); ++i) {
    const StateEntry& entry = program.state[i];
    const bool is_first = entry.same_as == i;
    state_.push_back(is_first ? entry.initial.clone() : state_[entry.same_as]);
    const std::size_t dot = entry.name.rfind('.');
    const bool is_own = dot == std::string::npos;
    torch::nn::Module& owner = module_at(*this, is_own ? "" : entry.name.substr(0, dot));
    const std::string name = is_own ? entry.name : entry.name.substr(dot + 1);
    if (entry.is_parameter)
      owner.register_parameter(name, state_.back(), entry.requires_grad);
    else
      owner.register_buffer(name, state_.back());
  }
}

std::vector<std::string> ExportedModelImpl::input_names() const {
  return code_->training.check.names();
}

std::vector<std::string> ExportedModelImpl::output_names() const {
  return code_->training.output_names;
}

const ProgramForm& ExportedModelImpl::form() const {
  if (is_training()) return code_->training;
  if (code_->evaluation) return *code_->evaluation;
  throw UsageError("the program cannot be turned over to evaluation: " + code_->no_evaluation +
                   "; put a second program for evaluation beside it in the file: "
                   "package_pt2(path, exported_programs={\"train\": …, \"evaluate\": …})");
}

std::vector<at::Tensor> ExportedModelImpl::run(const ProgramPart& part,
                                               const std::vector<at::Tensor>& inputs,
                                               torch::Device device) const {
  std::vector<c10::IValue> values;
  values.reserve(part.sources.size());
  UsedConstants constants;
  for (const InputSource& source : part.sources) {
    switch (source.kind) {
      case InputSource::Kind::user:
        values.emplace_back(inputs[source.index]);
        break;
      case InputSource::Kind::number:
        values.push_back(number_of(inputs[source.index]));
        break;
      case InputSource::Kind::state:
        values.emplace_back(state_[source.index]);
        break;
      case InputSource::Kind::constant:
        constants.add(constants_[source.index], device);
        values.emplace_back(constants.last());
        break;
      case InputSource::Kind::literal:
        values.push_back(source.literal);
        break;
    }
  }
  std::vector<at::Tensor> outputs;
  for (c10::IValue& value : part.block->run(std::move(values), device))
    outputs.push_back(tensor_of(std::move(value)));
  constants.expect_unchanged();
  return outputs;
}

std::vector<at::Tensor> ExportedModelImpl::forward(const std::vector<at::Tensor>& inputs) {
  const ProgramForm& own = form();
  own.check.check(inputs);
  return run(own.whole, inputs, device_);
}

std::vector<Layer> ExportedModelImpl::layers() {
  const std::vector<ProgramPart>& parts = code_->training.layers;
  if (parts.empty()) {
    return {layer("program", tensors_of(*this),
                  [this](const Tensors& inputs) { return forward(inputs); })};
  }
  std::vector<Layer> layers;
  const std::vector<Tensors> owned = layer_tensors(parts, state_);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    layers.push_back(layer(parts[i].name, owned[i], [this, i](const Tensors& inputs) {
      if (i == 0) form().check.check(inputs);
      return run(form().layers[i], inputs, inputs.at(0).device());
    }));
  }
  return layers;
}

std::vector<at::Tensor> ExportedModelImpl::forward_named(
    const std::map<std::string, at::Tensor>& inputs) {
  return forward(code_->training.check.in_order(inputs));
}

void ExportedModelImpl::to(torch::Device device, bool non_blocking) {
  torch::nn::Module::to(device, non_blocking);
  for (auto& [name, tensor] : constants_) tensor = tensor.to(device, non_blocking);
  device_ = device;
}

void ExportedModelImpl::to(torch::Dtype, bool) { refuse_type(); }

void ExportedModelImpl::to(torch::Device, torch::Dtype, bool) { refuse_type(); }

}  // namespace pagoda
