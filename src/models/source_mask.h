#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>

namespace pagoda {

/// Which places of sources [batch, places, ...] hold a token, by their lengths: [batch, 1, 1, places] on
/// the sources' device; undefined where all do.
inline at::Tensor source_mask(const at::Tensor& lengths, const at::Tensor& sources) {
  const at::Tensor host = lengths.cpu();
  if (host.numel() == 0 || host.min().item<std::int64_t>() >= sources.size(1)) return {};
  const at::Tensor mask = at::arange(sources.size(1), at::kLong) < host.unsqueeze(1);
  return mask.unsqueeze(1).unsqueeze(1).to(sources.device());
}

}  // namespace pagoda
