#include "train/wire.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <ATen/ops/empty.h>

namespace pagoda {
namespace {

constexpr std::int64_t kScaleHalves = 2;  // a float's bits in front of a message of fp16

/// The power of two that brings the largest of the values to between 2^13 and 2^14, which leaves room
/// below the end of fp16's range (65,504).
float scale_of(const at::Tensor& values) {
  const float largest = values.numel() == 0 ? 0 : values.abs().max().item<float>();
  if (!(largest > 0) || !std::isfinite(largest)) return 1;
  int exponent = 0;
  std::frexp(largest, &exponent);
  return std::ldexp(1.0F, std::min(14 - exponent, 126));
}

}  // namespace

Wire::Wire(WireType wire, at::ScalarType values)
    : wire_(wire), values_(values), plain_(wire == WireType::fp32 || values != at::kFloat) {}

at::ScalarType Wire::type() const {
  if (plain_) return values_;
  return wire_ == WireType::bf16 ? at::kBFloat16 : at::kHalf;
}

std::int64_t Wire::elements(std::int64_t count) const {
  return count > 0 && type() == at::kHalf ? count + kScaleHalves : count;
}

at::Tensor Wire::room(std::int64_t count) const { return at::empty({elements(count)}, type()); }

void Wire::encode(const at::Tensor& values, const at::Tensor& lost,
                  const at::Tensor& message) const {
  if (values.numel() == 0) return;
  lost.add_(values);  // what should travel
  if (type() == at::kBFloat16) {
    message.copy_(lost);
    lost.sub_(message);
  } else {
    const float scale = scale_of(lost);
    std::memcpy(message.mutable_data_ptr(), &scale, sizeof(scale));
    const at::Tensor rounded = message.narrow(0, kScaleHalves, values.numel());
    rounded.copy_(lost.mul(scale));
    lost.sub_(rounded.to(at::kFloat).div_(scale));
  }
  lost.nan_to_num_(0, 0, 0);  // what is not finite ends with this step
}

at::Tensor Wire::decoded(const at::Tensor& message) const {
  if (plain_ || message.numel() == 0) return message.to(values_);
  if (type() == at::kBFloat16) return message.to(at::kFloat);
  float scale = 1;
  std::memcpy(&scale, message.const_data_ptr(), sizeof(scale));
  return message.narrow(0, kScaleHalves, message.numel() - kScaleHalves).to(at::kFloat).div_(scale);
}

}  // namespace pagoda
