#include "tower/tower_context.h"

#include <mutex>
#include <optional>
#include <string>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <ATen/ExpandUtils.h>
#include <ATen/InferSize.h>
#include <ATen/TensorUtils.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/batch_norm_ops.h>
#include <ATen/ops/instance_norm_ops.h>
#include <ATen/ops/reshape.h>
#include <ATen/ops/view_ops.h>
#include <torch/library.h>

#include "base/random_streams.h"
#include "tower/synced_batch_norm.h"

namespace pagoda {
namespace {

/// A dispatch key that nothing else uses. While a thread includes it, the kernels below see its
/// calls before autograd and the device do.
constexpr auto kTowerKey = c10::DispatchKey::TESTING_ONLY_GenericMode;

c10::DispatchKeySet keys_after_tower(c10::DispatchKeySet keys) {
  return keys & c10::DispatchKeySet(c10::DispatchKeySet::FULL_AFTER, kTowerKey);
}

/// The generators of the tower that runs in this thread. LibTorch hands kernels no context of ours,
/// so they have to be found by thread; backward threads of accelerators have none and use the
/// device's own.
thread_local TowerContext* this_towers_context = nullptr;
thread_local const at::Generator* this_towers_generator = nullptr;
thread_local const at::Generator* this_towers_device_generator = nullptr;

/// Where a random operation draws: on the device of its first tensor, or on the one it names.
c10::Device device_of(const c10::FunctionSchema& schema, const torch::jit::Stack& stack,
                      std::size_t first) {
  for (std::size_t i = 0; i < schema.arguments().size(); ++i) {
    const c10::IValue& value = stack[first + i];
    if (value.isTensor() && value.toTensor().defined()) return value.toTensor().device();
    if (value.isDevice() && schema.arguments()[i].name() == "device") return value.toDevice();
  }
  return c10::kCPU;  // a factory function that names no device
}

/// The tower's generator for that device; null where it has none.
const at::Generator* generator_for(c10::Device device) {
  for (const at::Generator* own : {this_towers_generator, this_towers_device_generator}) {
    if (own == nullptr || !own->defined()) continue;
    const bool current = !device.has_index();  // "cuda" without a number is the tower's own card
    if (own->device().type() == device.type() && (current || own->device() == device)) return own;
  }
  return nullptr;
}

void draw_from_tower(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
                     torch::jit::Stack* stack) {
  const c10::FunctionSchema& schema = op.schema();
  const std::size_t first = stack->size() - schema.arguments().size();
  if (const at::Generator* own = generator_for(device_of(schema, *stack, first))) {
    for (std::size_t i = 0; i < schema.arguments().size(); ++i) {
      c10::IValue& value = (*stack)[first + i];
      if (schema.arguments()[i].name() == "generator" && value.isNone()) value = *own;
    }
  }
  op.redispatchBoxed(keys_after_tower(keys), stack);
}

at::Tensor view_or_copy(c10::DispatchKeySet keys, const at::Tensor& self,
                        c10::SymIntArrayRef size) {
  if (!self.is_contiguous()) {
    const auto shape = at::infer_size_dv(C10_AS_INTARRAYREF_SLOW(size), self.numel());
    if (!at::detail::computeStride(self.sizes(), self.strides(), shape)) return self.reshape(shape);
  }
  return at::_ops::view::redispatch(keys_after_tower(keys), self, size);
}

/// InstanceNorm is computed as a BatchNorm of other channels, which is no other tower's business.
thread_local bool inside_instance_norm = false;

at::Tensor batch_norm_of_towers(c10::DispatchKeySet keys, const at::Tensor& input,
                                const std::optional<at::Tensor>& weight,
                                const std::optional<at::Tensor>& bias,
                                const std::optional<at::Tensor>& running_mean,
                                const std::optional<at::Tensor>& running_var, bool training,
                                double momentum, double epsilon, bool cudnn_enabled) {
  BatchNormTurn* turn = BatchNormTurn::here();
  if (training && turn != nullptr && !inside_instance_norm) {
    check_smallest_feed(*turn, input);
    if (turn->exchange()) {
      return synced_batch_norm(*turn,
                               {input, weight, bias, running_mean, running_var, momentum, epsilon});
    }
  }
  return at::_ops::batch_norm::redispatch(keys_after_tower(keys), input, weight, bias, running_mean,
                                          running_var, training, momentum, epsilon, cudnn_enabled);
}

at::Tensor instance_norm_alone(c10::DispatchKeySet keys, const at::Tensor& input,
                               const std::optional<at::Tensor>& weight,
                               const std::optional<at::Tensor>& bias,
                               const std::optional<at::Tensor>& running_mean,
                               const std::optional<at::Tensor>& running_var, bool use_input_stats,
                               double momentum, double epsilon, bool cudnn_enabled) {
  struct Inside {
    Inside() { inside_instance_norm = true; }
    ~Inside() { inside_instance_norm = false; }
  } inside;
  return at::_ops::instance_norm::redispatch(keys_after_tower(keys), input, weight, bias,
                                             running_mean, running_var, use_input_stats, momentum,
                                             epsilon, cudnn_enabled);
}

/// Every operator of LibTorch that takes an optional generator.
std::vector<c10::OperatorName> random_operators() {
  std::vector<c10::OperatorName> random;
  for (const auto& name : c10::Dispatcher::singleton().getAllOpNames()) {
    const auto op = c10::Dispatcher::singleton().findSchema(name);
    if (!op || name.getNamespace() != std::optional<std::string_view>("aten")) continue;
    for (const auto& argument : op->schema().arguments()) {
      if (argument.name() == "generator" &&
          argument.type()->kind() == c10::TypeKind::OptionalType) {
        random.push_back(name);
        break;
      }
    }
  }
  return random;
}

/// Registered once for the process; without a TowerContext the key is in no thread's set, and costs
/// nothing.
void register_kernels() {
  static torch::Library any(torch::Library::IMPL, "_", kTowerKey, __FILE__, __LINE__);
  static torch::Library aten(torch::Library::IMPL, "aten", kTowerKey, __FILE__, __LINE__);
  any.fallback(torch::CppFunction::makeFallthrough());
  for (const auto& name : random_operators()) {
    const std::string full =
        name.overload_name.empty() ? name.name : name.name + "." + name.overload_name;
    aten.impl(full.c_str(), torch::CppFunction::makeFromBoxedFunction<&draw_from_tower>());
  }
  aten.impl("view", &view_or_copy);
  aten.impl("batch_norm", &batch_norm_of_towers);
  aten.impl("instance_norm", &instance_norm_alone);
}

}  // namespace

TowerContext::TowerContext(c10::Device device)
    : generator_(at::make_generator<at::CPUGeneratorImpl>()) {
  static std::once_flag registered;
  std::call_once(registered, register_kernels);
  if (!device.is_cpu()) {
    device_generator_ = at::globalContext()
                            .getAcceleratorHooksInterface(device.type())
                            .getNewGenerator(device.index());
  }
  this_towers_context = this;
  this_towers_generator = &generator_;
  this_towers_device_generator = &device_generator_;
  intercept_ = std::make_unique<c10::impl::IncludeDispatchKeyGuard>(kTowerKey);
}

TowerContext::~TowerContext() {
  intercept_.reset();
  this_towers_context = nullptr;
  this_towers_generator = nullptr;
  this_towers_device_generator = nullptr;
}

void TowerContext::reseed(std::uint64_t seed) {
  generator_.set_current_seed(seed);
  if (!device_generator_.defined()) return;
  device_generator_.set_current_seed(seed);
  // What backward draws comes from the device's own generator.
  at::Generator shared = at::globalContext().defaultGenerator(device_generator_.device());
  std::lock_guard lock(shared.mutex());
  shared.set_current_seed(RandomStreams(seed).backward());
}

void reseed_this_tower(std::uint64_t seed) { this_towers_context->reseed(seed); }

}  // namespace pagoda
