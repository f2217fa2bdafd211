#pragma once

#include <chrono>
#include <string>

#include <torch/csrc/distributed/c10d/Store.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

namespace pagoda {

/// How long a store may take to answer. c10d waits without end for the answer to a request that got
/// lost on a cut link, or whose server is frozen.
inline constexpr std::chrono::milliseconds kAnswerLimit = std::chrono::seconds(10);

/// From here on a call on the store (or on another that is connected to the same server) fails when
/// no answer comes for so long; one that waits for a key still waits as long as it was told to. After
/// such a failure the store must not be used any more: a late answer would be taken for that to the
/// next call. Stores without a connection are left as they are.
void limit_answers(c10d::Store& store, std::chrono::milliseconds limit = kAnswerLimit);

/// A store as c10d opens it, which waits without end for somebody who accepts the connection and does not
/// answer: another program on that port, or a frozen rank 0. This gives up `limit` after `options.timeout`.
/// Fails: whatever c10d throws; std::runtime_error when nobody answers.
c10::intrusive_ptr<c10d::Store> open_tcp_store(const std::string& host,
                                               const c10d::TCPStoreOptions& options,
                                               std::chrono::milliseconds limit = kAnswerLimit);

}  // namespace pagoda
