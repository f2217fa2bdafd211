#pragma once

#include <pagoda/world/world_place.h>

#include <chrono>
#include <string>
#include <vector>

#include <torch/csrc/distributed/c10d/Store.hpp>

namespace pagoda {

/// The processes of one start, among them this one.
struct Gathered {
  std::string prefix;              ///< of all keys of this start
  std::vector<std::string> hosts;  ///< names of their machines, by rank
};

/// Finds the other processes of this start in a store that may still hold the keys of earlier ones
/// (a launcher's store outlives its processes). Rank 0 opens a new start, counted in the store; the
/// others greet it with a token of their own, and rank 0 answers with all tokens, so that nobody
/// takes an old start for this one.
///
/// Fails: WorldError after the timeout, with the ranks that have not come; WorldError when another
/// process has the same rank or another number of processes, or the store is gone or does not answer.
/// From then on the store has a limit to its answers.
Gathered gather_ranks(c10d::Store& store, const WorldPlace& place, const std::string& host,
                      std::chrono::milliseconds timeout);

}  // namespace pagoda
