#include <pagoda/base/error.h>
#include <pagoda/base/grouped_number.h>
#include <pagoda/params/parameter_table.h>
#include <pagoda/pipeline/balance.h>
#include <pagoda/pipeline/stages.h>

#include <string>
#include <unordered_map>
#include <utility>

#include <ATen/core/grad_mode.h>
#include <torch/nn/module.h>

#include "pipeline/stage_output.h"
#include "tower/tower_thread.h"

namespace pagoda {
namespace {

StageOptions resolved(StageOptions options, std::size_t devices) {
  if (options.stages < 1) {
    throw UsageError("the number of stages is " + std::to_string(options.stages) +
                     "; it must be at least 1");
  }
  if (devices == 0 || devices % static_cast<std::size_t>(options.stages) != 0) {
    throw UsageError("towers of " + counted(options.stages, "stage") + " cannot be made of " +
                     counted(static_cast<std::int64_t>(devices), "device") +
                     "; their number must be a multiple of " + std::to_string(options.stages));
  }
  const auto& layers = options.layers_per_stage;
  if (!layers.empty() && layers.size() != static_cast<std::size_t>(options.stages)) {
    throw UsageError("layers are given for " + std::to_string(layers.size()) + " of " +
                     std::to_string(options.stages) + " stages; give a number for each");
  }
  return options;
}

/// An output layer that all stages compute is no work of the last one.
std::vector<int> even_cut(int layers, int stages, OutputPlace output) {
  if (output == OutputPlace::last_stage || layers <= stages) return even_stages(layers, stages);
  std::vector<int> sizes = even_stages(layers - 1, stages);
  ++sizes.back();
  return sizes;
}

/// In which layer each tensor is used.
class TensorHomes {
 public:
  /// Fails: UsageError when the tensor is used in another stage too.
  void add(const at::Tensor& tensor, const std::string& layer, int stage) {
    const auto [home, is_new] = homes_.emplace(tensor.unsafeGetTensorImpl(), Home{layer, stage});
    if (is_new || home->second.stage == stage) return;
    throw UsageError("layers " + home->second.layer + " and " + layer +
                     " use the same parameter and are in different stages; put all layers from "
                     "one to the other into one stage");
  }

  /// Fails: UsageError when the tensor is in no layer.
  int stage_of(const NamedTensor& entry) const {
    const auto home = homes_.find(entry.tensor.unsafeGetTensorImpl());
    if (home != homes_.end()) return home->second.stage;
    throw UsageError("the model's layers leave out '" + entry.name +
                     "'; name it among the tensors of the layer that uses it");
  }

 private:
  struct Home {
    std::string layer;
    int stage;
  };
  std::unordered_map<const c10::TensorImpl*, Home> homes_;
};

/// As Module::to does it: the handle stays the same.
void move_to(const at::Tensor& tensor, c10::Device device) {
  if (tensor.device() != device) tensor.set_data(tensor.detach().to(device));
}

}  // namespace

Stages::Stages(std::vector<Device> devices, StageOptions options)
    : devices_(std::move(devices)),
      options_(resolved(std::move(options), devices_.size())),
      replicas_(static_cast<std::size_t>(towers())) {
  for (int tower = 0; tower < towers(); ++tower) {
    for (int stage = 1; stage < count(); ++stage) {
      claims_.emplace_back(device(tower, stage));
      threads_.push_back(std::make_unique<TowerThread>(tower, device(tower, stage), stage));
    }
  }
}

Stages::~Stages() = default;

std::vector<Device> Stages::tower_devices() const {
  std::vector<Device> first;
  for (int tower = 0; tower < towers(); ++tower) first.push_back(device(tower, 0));
  return first;
}

bool Stages::share_memory() const { return pagoda::share_memory(devices_); }

std::optional<ParameterPlacement> Stages::resolve_placement(
    std::optional<ParameterPlacement> wanted) const {
  if (share_memory() && wanted.value_or(ParameterPlacement::shared) == ParameterPlacement::shared)
    return wanted;
  if (wanted.value_or(ParameterPlacement::host) != ParameterPlacement::host) {
    throw UsageError(std::string("the parameters of a model in stages cannot be ") +
                     placement_name(*wanted) + "; place them host" +
                     (share_memory() ? " or shared" : ""));
  }
  return ParameterPlacement::host;
}

void Stages::adopt(int tower, std::shared_ptr<torch::nn::Module> model, std::vector<Layer> layers) {
  const int layer_count = static_cast<int>(layers.size());
  const auto sizes = options_.layers_per_stage.empty()
                         ? even_cut(layer_count, count(), options_.output)
                         : options_.layers_per_stage;
  check_stages(sizes, layer_count);

  auto replica = std::make_shared<StagedReplica>();
  replica->model = std::move(model);
  TensorHomes homes;
  int next = 0;
  for (int number = 0; number < count(); ++number) {
    Stage& stage = replica->stages.emplace_back(
        Stage{.device = device(tower, number), .layers = {}, .first_layer = next});
    for (int i = 0; i < sizes[static_cast<std::size_t>(number)]; ++i) {
      Layer& layer = layers[static_cast<std::size_t>(next++)];
      for (const auto& tensor : layer.tensors) homes.add(tensor, layer.name, number);
      stage.layers.push_back(std::move(layer));
    }
    stage.trainable = false;
  }

  at::NoGradGuard no_grad;
  const ParameterTable table = table_of(*replica->model);
  const auto place = [&](const NamedTensor& entry) -> Stage& {
    Stage& stage = replica->stages[static_cast<std::size_t>(homes.stage_of(entry))];
    move_to(entry.tensor, stage.device.torch_device());
    return stage;
  };
  for (const auto& entry : table.trainable) place(entry).trainable = true;
  for (const auto& entry : table.frozen) place(entry);
  for (const auto& entry : table.buffers) place(entry).buffers.push_back(entry.tensor);
  if (options_.output == OutputPlace::every_stage) split_output(*replica);
  replicas_[static_cast<std::size_t>(tower)] = std::move(replica);
}

void Stages::adopt_output(int tower, int stage, std::shared_ptr<torch::nn::Module> model,
                          std::vector<Layer> layers) {
  add_output(*replicas_[static_cast<std::size_t>(tower)], stage, std::move(model),
             std::move(layers.back()));
}

void Stages::run(int tower, const std::function<void(int stage)>& work) {
  // Shared with the stages: a late one must not be left with dangling references.
  const auto shared_work = std::make_shared<const std::function<void(int)>>(work);
  for (int stage = 1; stage < count(); ++stage)
    thread(tower, stage).start([shared_work, stage] { (*shared_work)(stage); }, std::nullopt);
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(count()));
  try {
    (*shared_work)(0);
  } catch (...) {
    errors[0] = std::current_exception();
  }
  for (int stage = 1; stage < count(); ++stage)
    errors[static_cast<std::size_t>(stage)] = thread(tower, stage).wait();
  for (const auto& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

MemoryUse Stages::memory(int tower, int stage) const {
  return memory_use(device(tower, stage),
                    stage > 0 ? thread(tower, stage).memory().get() : nullptr);
}

}  // namespace pagoda
