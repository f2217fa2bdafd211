#pragma once

#include <cstdint>

#include <CLI/CLI.hpp>

namespace pagoda {

/// Accepts only whole numbers from `least` to `most`. CLI11's own conversion turns a number that is
/// too large into the largest possible one, and -1 into a very large one.
CLI::Validator whole_number(std::uint64_t least, std::uint64_t most);

/// The largest count that is accepted: the product of two such numbers still fits into 64 bits.
inline constexpr std::uint64_t kMostCount = 1'000'000'000;

/// For numbers of steps, samples and the like: from 1 to kMostCount.
CLI::Validator count();

/// The same, but 0 is accepted and means none.
CLI::Validator count_or_none();

/// For any finite number: CLI11 would also accept infinities and NaN.
CLI::Validator finite_number();

/// For times in seconds: above 0 and below 1e9.
CLI::Validator positive_seconds();

/// For seeds: any unsigned 64-bit number.
CLI::Validator any_whole_number();

}  // namespace pagoda
