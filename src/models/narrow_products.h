#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/DispatchKeySet.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

// Matrix products of our own autograd functions under autocast: operands of 16 bits where autocast
// has them, everything around them in fp32. Without autocast they are what they look like.

namespace pagoda {

/// The type that autocast gives products of this tensor, in this thread; the tensor's own where there
/// is none, and for double.
at::ScalarType product_type(const at::Tensor& tensor);

/// A tensor of 16 bits in fp32, where autocast is on: it comes from another product.
at::Tensor widened_by_autocast(const at::Tensor& tensor);

/// While it lives, operators take their arguments as they are: for functions that choose themselves.
class WithoutAutocast {
 private:
  const c10::impl::ExcludeDispatchKeyGuard exclude_{c10::autocast_dispatch_keyset};
};

/// a · b in the type of b, which has 16 bits. On the CPU, sizes may differ from call to call.
at::Tensor narrow_product(const at::Tensor& a, const at::Tensor& b);

/// bias + a · b, where b has the type of the product and the rest that of the result.
at::Tensor affine(const at::Tensor& bias, const at::Tensor& a, const at::Tensor& b);

/// a · b in the type of `a`, computed in that of b.
at::Tensor product(const at::Tensor& a, const at::Tensor& b);

/// Adds a · b to the sum, computed in the type of b.
void add_product(const at::Tensor& sum, const at::Tensor& a, const at::Tensor& b);

}  // namespace pagoda
