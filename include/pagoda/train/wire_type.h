#pragma once

#include <string>

namespace pagoda {

/// What gradients travel in between processes. With 16 bits, what rounding loses is kept and added to
/// the next step's gradient (error feedback), so that it comes later and is not lost.
enum class WireType {
  fp32,  ///< as they are; double ones in double
  bf16,
  fp16,
};

/// "fp32", "bf16", "fp16".
const char* wire_name(WireType type);

/// Fails: UsageError for any other text.
WireType wire_type(const std::string& name);

}  // namespace pagoda
