#include "sim/sim_kernels.h"

#include <pagoda/base/error.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include <ATen/EmptyTensor.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/_coalesced_native.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/_sparse_coo_tensor_with_dims_and_tensors_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/copy_native.h>
#include <ATen/ops/empty_native.h>
#include <ATen/ops/set_native.h>
#include <ATen/ops/view_native.h>
#include <c10/core/DeviceGuard.h>
#include <torch/library.h>

#include "sim/boxed_kernel.h"
#include "sim/host_view.h"
#include "sim/layer_kernels.h"
#include "sim/sim_card.h"
#include "sim/sim_copy.h"
#include "sim/sim_init.h"
#include "sim/sim_memory.h"
#include "sim/sim_streams.h"

namespace pagoda {
namespace {

constexpr c10::DispatchKeySet kDense(c10::DispatchKey::PrivateUse1);

c10::OptionalDeviceGuard on_card(std::optional<c10::Device> device) {
  initialise_sim();
  return c10::OptionalDeviceGuard(device);
}

at::Tensor empty(at::IntArrayRef size, std::optional<at::ScalarType> dtype,
                 std::optional<at::Layout>, std::optional<at::Device> device, std::optional<bool>,
                 std::optional<at::MemoryFormat> format) {
  const auto guard = on_card(device);
  return at::detail::empty_generic(size, sim_allocator(), kDense, at::dtype_or_default(dtype),
                                   format);
}

at::Tensor empty_strided(at::IntArrayRef size, at::IntArrayRef stride,
                         std::optional<at::ScalarType> dtype, std::optional<at::Layout>,
                         std::optional<at::Device> device, std::optional<bool>) {
  const auto guard = on_card(device);
  return at::detail::empty_strided_generic(size, stride, sim_allocator(), kDense,
                                           at::dtype_or_default(dtype));
}

const at::Tensor& resize_tensor(const at::Tensor& self, at::IntArrayRef size,
                                std::optional<at::MemoryFormat> format) {
  const auto guard = on_card(self.device());
  at::native::resize_impl_cpu_(self.unsafeGetTensorImpl(), size, std::nullopt);
  if (format) self.unsafeGetTensorImpl()->empty_tensor_restride(*format);
  return self;
}

at::Tensor& set_storage(at::Tensor& self, at::Storage source) {
  const auto count = static_cast<std::int64_t>(source.nbytes() / self.dtype().itemsize());
  return at::native::set_storage_cpu_(self, std::move(source), 0, {count}, {});
}

at::Tensor copy_from(const at::Tensor& from, const at::Tensor& to, bool non_blocking) {
  copy_on_cards(from, to, non_blocking);
  return to;
}

at::Tensor copy_from_and_resize(const at::Tensor& from, const at::Tensor& to) {
  if (to.is_privateuseone())
    resize_tensor(to, from.sizes(), std::nullopt);
  else
    to.resize_(from.sizes());
  return copy_from(from, to, false);
}

at::Scalar item(const at::Tensor& self) {
  sim_card(self.get_device()).begin_operation();
  SimOperation operation("aten::item", self.get_device());
  operation.reads(self);
  operation.begin();
  operation.finish();
  return host_view(self).item();
}

void record_stream(at::Tensor& self, at::Stream stream) {
  sim_allocator()->recordStream(self.storage().data_ptr(), stream);
}

/// LibTorch makes a sparse tensor on the current card.
at::Tensor empty_sparse(c10::SymIntArrayRef size, std::optional<at::ScalarType> dtype,
                        std::optional<at::Layout> layout, std::optional<at::Device> device,
                        std::optional<bool> pin_memory, std::optional<at::MemoryFormat> format) {
  const auto guard = on_card(device);
  return at::native::empty_sparse_symint(size, dtype, layout, device, pin_memory, format);
}

at::Tensor sparse_of(std::int64_t sparse_dim, std::int64_t dense_dim, c10::SymIntArrayRef size,
                     const at::Tensor& indices, const at::Tensor& values,
                     std::optional<at::ScalarType> dtype, std::optional<at::Layout> layout,
                     std::optional<at::Device> device, std::optional<bool> pin_memory,
                     std::optional<bool> is_coalesced) {
  const auto guard = on_card(values.device());
  return at::native::new_with_dims_and_tensor_sparse_symint(sparse_dim, dense_dim, size, indices,
                                                            values, dtype, layout, device,
                                                            pin_memory, is_coalesced);
}

/// Lets Module::to replace a parameter's memory by a card's, which LibTorch refuses to backends
/// that it does not know.
bool may_replace(const at::Tensor& self, const at::Tensor& from) {
  return self.is_sparse() == from.is_sparse();
}

void implement_by_hand(torch::Library& dense, torch::Library& sparse, torch::Library& autograd) {
  dense.impl("empty.memory_format", &empty);
  dense.impl("empty_strided", &empty_strided);
  dense.impl("resize_", &resize_tensor);
  dense.impl("set_.source_Storage", &set_storage);
  dense.impl("set_.source_Storage_storage_offset", &at::native::set_storage_cpu_);
  dense.impl("set_.source_Tensor", &at::native::set_tensor_);
  dense.impl("as_strided", &at::native::as_strided_tensorimpl);
  dense.impl(
      "view",
      TORCH_FN(static_cast<at::Tensor (*)(const at::Tensor&, at::IntArrayRef)>(&at::native::view)));
  dense.impl("_reshape_alias", &at::native::_reshape_alias);
  dense.impl("_copy_from", &copy_from);
  dense.impl("_copy_from_and_resize", &copy_from_and_resize);
  dense.impl("_local_scalar_dense", &item);
  dense.impl("record_stream", &record_stream);
  dense.impl("_has_compatible_shallow_copy_type", &may_replace);
  sparse.impl("_has_compatible_shallow_copy_type", &may_replace);
  sparse.impl("empty.memory_format", &empty_sparse);
  sparse.impl("copy_", &at::native::copy_sparse_wrapper_);
  sparse.impl("_coalesced_", &at::native::_coalesced_sparse_);
  sparse.impl("_sparse_coo_tensor_with_dims_and_tensors", &sparse_of);
  for (auto* library : {&dense, &autograd}) implement_layers(*library);
}

const std::set<std::string> kByHand = {"aten::empty.memory_format",
                                       "aten::empty_strided",
                                       "aten::resize_",
                                       "aten::set_.source_Storage",
                                       "aten::set_.source_Storage_storage_offset",
                                       "aten::set_.source_Tensor",
                                       "aten::as_strided",
                                       "aten::view",
                                       "aten::_reshape_alias",
                                       "aten::_copy_from",
                                       "aten::_copy_from_and_resize",
                                       "aten::_local_scalar_dense",
                                       "aten::_has_compatible_shallow_copy_type",
                                       "aten::copy_",
                                       "aten::_coalesced_",
                                       "aten::_sparse_coo_tensor_with_dims_and_tensors"};

std::string full_name(const c10::OperatorName& name) {
  return name.overload_name.empty() ? name.name : name.name + "." + name.overload_name;
}

/// Losses whose `out` form, given its result, first makes it larger and warns of that.
const std::set<std::string> kNotByOut = {"aten::mse_loss", "aten::smooth_l1_loss"};

/// The operators that have a kernel for the CPU. Functional forms that LibTorch derives from their
/// `out` form (for dense tensors only) are left to it: it then allocates on the card at once.
std::vector<std::string> operators_of(c10::DispatchKey host_key) {
  std::vector<std::string> names;
  for (const auto& name : c10::Dispatcher::singleton().getAllOpNames()) {
    const auto op = c10::Dispatcher::singleton().findSchema(name);
    if (!op || !name.name.starts_with("aten::") || kByHand.contains(full_name(name))) continue;
    const bool derived =
        host_key == c10::DispatchKey::CPU &&
        op->hasKernelForDispatchKey(c10::DispatchKey::CompositeExplicitAutogradNonFunctional) &&
        !op->schema().is_mutable() && !kNotByOut.contains(full_name(name));
    if (op->hasKernelForDispatchKey(host_key) && !derived) names.push_back(full_name(name));
  }
  return names;
}

/// One library for each kernel, so that single ones can be taken away.
using Kernels = std::map<std::string, std::unique_ptr<torch::Library>>;

void add_boxed(Kernels& kernels, const std::string& name, c10::DispatchKey key) {
  auto& library = kernels[name];
  library = std::make_unique<torch::Library>(torch::Library::IMPL, "aten", key, __FILE__, __LINE__);
  library->impl(name.c_str(), torch::CppFunction::makeFromBoxedFunction<&run_on_host>());
}

}  // namespace

void register_sim_kernels(const std::vector<std::string>& missing) {
  using c10::DispatchKey;
  // For as long as the process lives: LibTorch may use them until its own end.
  static auto& dense = *new torch::Library(torch::Library::IMPL, "aten", DispatchKey::PrivateUse1,
                                           __FILE__, __LINE__);
  static auto& sparse = *new torch::Library(torch::Library::IMPL, "aten",
                                            DispatchKey::SparsePrivateUse1, __FILE__, __LINE__);
  static auto& autograd = *new torch::Library(torch::Library::IMPL, "aten",
                                              DispatchKey::AutogradPrivateUse1, __FILE__, __LINE__);
  static auto& boxed = *new Kernels;
  static auto& boxed_sparse = *new Kernels;
  static const bool once = [] {
    implement_by_hand(dense, sparse, autograd);
    for (const auto& name : operators_of(DispatchKey::CPU))
      add_boxed(boxed, name, DispatchKey::PrivateUse1);
    // The backend is chosen inside of these, where LibTorch knows no better for a new one.
    for (const char* name : {"aten::convolution", "aten::convolution_backward"})
      add_boxed(boxed, name, DispatchKey::PrivateUse1);
    for (const auto& name : operators_of(DispatchKey::SparseCPU))
      add_boxed(boxed_sparse, name, DispatchKey::SparsePrivateUse1);
    return true;
  }();
  static_cast<void>(once);
  for (const auto& name : missing) {
    if (!boxed.contains(name)) {
      throw UsageError(
          "'" + name +
          "' is not a kernel that simulated cards can lack; name one such as aten::cumsum.out");
    }
  }
  for (auto& [name, library] : boxed) {
    const bool leave_out = std::find(missing.begin(), missing.end(), name) != missing.end();
    if (leave_out) library.reset();
    if (!leave_out && !library) add_boxed(boxed, name, DispatchKey::PrivateUse1);
  }
}

}  // namespace pagoda
