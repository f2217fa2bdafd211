#pragma once

#include <cstdint>

#include <CLI/CLI.hpp>

namespace pagoda {

/// Accepts whole numbers from `least` to `most` only. CLI11's own conversion takes a number that is
/// too large as the largest possible, and -1 as a very large one.
CLI::Validator whole_number(std::uint64_t least, std::uint64_t most);

/// The most of anything that can be counted: products of two such numbers still fit into 64 bits.
inline constexpr std::uint64_t kMostCount = 1'000'000'000;

/// For numbers of steps, samples and the like: at least 1.
CLI::Validator count();

/// The same for what can be 0, which means none of it.
CLI::Validator count_or_none();

/// For any number that is neither infinite nor none (NaN), which CLI11 would take.
CLI::Validator finite_number();

/// For times: above 0.
CLI::Validator positive_seconds();

/// For seeds: any number that fits into 64 bits.
CLI::Validator any_whole_number();

}  // namespace pagoda
