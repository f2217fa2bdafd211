#include "sim/host_view.h"

#include <ATen/SparseTensorImpl.h>
#include <ATen/ops/_sparse_coo_tensor_with_dims_and_tensors.h>
#include <c10/core/CPUAllocator.h>

#include "sim/sim_card.h"
#include "sim/sim_memory.h"

namespace pagoda {
namespace {

at::Tensor tensor_over(c10::Storage storage, c10::DispatchKey key, const at::Tensor& like) {
  at::Tensor tensor = at::detail::make_tensor<c10::TensorImpl>(
      std::move(storage), c10::DispatchKeySet(key), like.dtype());
  tensor.unsafeGetTensorImpl()->set_sizes_and_strides(like.sizes(), like.strides(),
                                                      like.storage_offset());
  return tensor;
}

at::SparseTensorImpl& sparse_impl(const at::Tensor& tensor) {
  return *static_cast<at::SparseTensorImpl*>(tensor.unsafeGetTensorImpl());
}

/// Asks the tensor's implementation, not the tensor: on a card that would end up here again.
at::Tensor sparse_like(const at::Tensor& sparse, const at::Tensor& indices,
                       const at::Tensor& values) {
  const auto& impl = sparse_impl(sparse);
  return at::_sparse_coo_tensor_with_dims_and_tensors(
      impl.sparse_dim(), impl.dense_dim(), sparse.sizes(), indices, values,
      values.options().layout(at::kSparse), impl.coalesced());
}

}  // namespace

at::Tensor host_view(const at::Tensor& on_card) {
  const c10::Storage& storage = on_card.storage();
  c10::Storage host(c10::Storage::use_byte_size_t{}, storage.nbytes(),
                    c10::DataPtr(storage.mutable_data(), c10::Device(c10::kCPU)),
                    c10::GetCPUAllocator(), /*resizable=*/true);
  at::Tensor view = tensor_over(std::move(host), c10::DispatchKey::CPU, on_card);
  view._set_conj(on_card.is_conj());
  view._set_neg(on_card.is_neg());
  return view;
}

at::Tensor HostViews::dense_view(const at::Tensor& on_card) {
  for (const auto& pair : pairs_) {
    if (pair.on_card.is_same(on_card)) return pair.on_host;
  }
  at::Tensor view = host_view(on_card);
  for (const auto& pair : pairs_) {  // arguments that share memory must go on doing so
    if (!pair.on_card.is_sparse() && pair.on_card.is_alias_of(on_card)) {
      view = tensor_over(pair.on_host.storage(), c10::DispatchKey::CPU, on_card);
    }
  }
  pairs_.push_back({on_card, view});
  return view;
}

at::Tensor HostViews::view(const at::Tensor& on_card) {
  if (!on_card.is_sparse()) return dense_view(on_card);
  for (const auto& pair : pairs_) {
    if (pair.on_card.is_same(on_card)) return pair.on_host;
  }
  const auto& impl = sparse_impl(on_card);
  at::Tensor view = sparse_like(on_card, dense_view(impl.indices()), dense_view(impl.values()));
  pairs_.push_back({on_card, view});
  return view;
}

at::Tensor HostViews::dense_back(const at::Tensor& on_host) {
  for (const auto& pair : pairs_) {
    if (pair.on_host.is_same(on_host)) return pair.on_card;
  }
  for (const auto& pair : pairs_) {
    if (!pair.on_host.is_sparse() && pair.on_host.is_alias_of(on_host)) {
      return tensor_over(pair.on_card.storage(), c10::DispatchKey::PrivateUse1, on_host);
    }
  }
  return tensor_over(adopt_storage(on_host.storage(), card_), c10::DispatchKey::PrivateUse1,
                     on_host);
}

at::Tensor HostViews::back(const at::Tensor& on_host) {
  if (!on_host.is_sparse()) return dense_back(on_host);
  for (const auto& pair : pairs_) {
    if (pair.on_host.is_same(on_host)) return pair.on_card;
  }
  const auto& impl = sparse_impl(on_host);
  return sparse_like(on_host, dense_back(impl.indices()), dense_back(impl.values()));
}

void HostViews::take_changes(const at::Tensor& on_card) {
  for (const auto& pair : pairs_) {
    if (!pair.on_card.is_same(on_card)) continue;
    if (on_card.is_sparse()) {
      const auto& changed = sparse_impl(pair.on_host);
      auto& impl = sparse_impl(on_card);
      impl.raw_resize_(changed.sparse_dim(), changed.dense_dim(), pair.on_host.sizes());
      impl.set_indices_and_values_unsafe(dense_back(changed.indices()),
                                         dense_back(changed.values()));
      impl.set_coalesced(changed.coalesced());
      return;
    }
    const c10::Storage& host = pair.on_host.storage();
    if (host.data() != on_card.storage().data()) {  // an output that the operation made larger
      auto* storage = on_card.storage().unsafeGetStorageImpl();
      storage->swap_data_ptr(*adopt_storage(host, card_).unsafeGetStorageImpl());
    }
    on_card.unsafeGetTensorImpl()->set_sizes_and_strides(
        pair.on_host.sizes(), pair.on_host.strides(), pair.on_host.storage_offset());
    return;
  }
}

}  // namespace pagoda
