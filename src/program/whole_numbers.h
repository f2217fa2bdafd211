#pragma once

#include <cstdint>
#include <limits>
#include <optional>

namespace pagoda {

// Arithmetic of whole numbers as Python has it, with nothing where the result does not fit or a
// number is divided by zero.

using WholeNumber = std::optional<std::int64_t>;

inline WholeNumber whole_sum(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? WholeNumber{} : sum;
}

inline WholeNumber whole_difference(std::int64_t a, std::int64_t b) {
  std::int64_t difference = 0;
  return __builtin_sub_overflow(a, b, &difference) ? WholeNumber{} : difference;
}

inline WholeNumber whole_product(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? WholeNumber{} : product;
}

/// Rounded down, also for negative numbers.
inline WholeNumber floor_quotient(std::int64_t a, std::int64_t b) {
  if (b == 0 || (a == std::numeric_limits<std::int64_t>::min() && b == -1)) return {};
  const bool down = a % b != 0 && (a < 0) != (b < 0);
  return a / b - (down ? 1 : 0);
}

/// Has the sign of b.
inline WholeNumber floor_remainder(std::int64_t a, std::int64_t b) {
  if (b == 0) return {};
  if (b == -1) return 0;
  const std::int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

inline WholeNumber whole_power(std::int64_t base, std::int64_t exponent) {
  if (exponent < 0) return {};
  WholeNumber power = 1;
  for (WholeNumber square = base; power && exponent > 0; exponent >>= 1) {
    if (!square) return {};
    if (exponent & 1) power = whole_product(*power, *square);
    if (exponent > 1) square = whole_product(*square, *square);
  }
  return power;
}

}  // namespace pagoda
