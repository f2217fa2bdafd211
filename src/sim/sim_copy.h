#pragma once

#include <ATen/core/Tensor.h>

namespace pagoda {

/// Copies between a card and the host, between two cards or on one: the only operation that crosses
/// a link.
///
/// As on CUDA, a `non_blocking` copy between a card and pinned memory only begins here. Strict cards
/// make it as late as can be, and throw a UsageError when the source was overwritten meanwhile. All
/// others are done when this returns.
void copy_on_cards(const at::Tensor& from, const at::Tensor& to, bool non_blocking);

}  // namespace pagoda
