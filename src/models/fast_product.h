#pragma once

#include <ATen/core/Tensor.h>

namespace pagoda {

// Products of two matrices of one type and device into memory that is there: at::mm_out and addmm_, but
// in single precision on the CPU by whichever of LibTorch's two libraries, MKL and oneDNN, is faster:
// MKL runs below its best on processors that are not Intel's.
//
// No autograd: for the inside of our own functions.

/// Whether oneDNN is the faster one on this processor, and allowed.
bool prefers_onednn();

/// out = a · b.
void multiply_into(const at::Tensor& out, const at::Tensor& a, const at::Tensor& b);

/// out += a · b.
void multiply_add(const at::Tensor& out, const at::Tensor& a, const at::Tensor& b);

/// Whether oneDNN computes this product.
bool is_by_onednn(const at::Tensor& out, const at::Tensor& a, const at::Tensor& b);

}  // namespace pagoda
