#pragma once

#include <pagoda/world/world_place.h>

#include <chrono>
#include <exception>
#include <string>

#include <c10/util/intrusive_ptr.h>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

namespace pagoda {

using StorePointer = c10::intrusive_ptr<c10d::Store>;
using Group = c10d::ProcessGroupGloo;

/// The first line of what c10d or gloo says, without the place in its source.
std::string first_line(const std::exception& error);

/// c10d writes what fails on its way to stderr, with backtraces; the error that comes of it says it
/// once. Whoever asks LibTorch for its log by the variable gets it.
void silence_c10d();

/// The store of the place's master, served by rank 0 where no launcher does that.
/// Fails: WorldError that says why it cannot be served or reached.
StorePointer open_store(const WorldPlace& place, std::chrono::milliseconds timeout);

/// The connections of all ranks, over the network interface of that address, or the one that
/// GLOO_SOCKET_IFNAME names. `name` is this rank's.
/// Fails: WorldError.
c10::intrusive_ptr<Group> connect(const StorePointer& store, const WorldPlace& place,
                                  const std::string& address, std::chrono::milliseconds timeout,
                                  const std::string& name);

}  // namespace pagoda
