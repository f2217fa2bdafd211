#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "sim/sim_clock.h"

namespace pagoda {

using SimTime = std::chrono::steady_clock::time_point;

/// Streams of a card besides its default one: a pool that is handed out in turn, as CUDA's.
inline constexpr int kSimStreamPool = 32;

/// The stream that the calling thread uses on a card; the default stream until it changes that.
SimStream current_sim_stream(int card);
SimStream exchange_sim_stream(const SimStream& stream);
SimStream next_sim_stream(int card);

/// How far a stream has come when the event is recorded.
struct SimEvent {
  SimMoment moment;
  SimClock known;
};
SimEvent record_sim_event(const SimStream& stream);

/// What is put into the stream from here on comes after the event.
void block_sim_stream(const SimStream& stream, const SimEvent& event);

/// Waits for it, and for all that it comes after. Fails: what late work throws.
void synchronise(const SimEvent& event);
void synchronise(const SimStream& stream);
void synchronise_sim_card(int card);

/// Whether that would not wait.
bool is_done(const SimEvent& event);
bool is_done(const SimStream& stream);

/// One operation on the calling thread's current stream of a card.
///
/// Computing is done when its call returns, as far as its numbers go. What is only known to the
/// stream is still late for all others: they must wait for an event, or for the stream. Copies that
/// are late in earnest come first, in stream order.
///
/// Threads: an operation is one thread's.
class SimOperation {
 public:
  SimOperation(std::string what, int card);

  /// What it uses of its card's memory; other tensors are no matter. Sparse ones by their parts.
  void reads(const at::Tensor& tensor);
  void writes(const at::Tensor& tensor);

  /// Puts it into the stream and does all that comes before it there.
  /// Fails: UsageError for uses that nothing orders; what late work throws.
  void begin();

  /// Puts it into the stream to be done later: at `ready` or after, when something waits for it.
  void begin_late(SimTime ready, std::function<void()> work);

  /// Whatever its result holds that none of its arguments held.
  void made(const at::Tensor& tensor);

  /// Waits for the stream, as the host does to read what it has computed.
  void finish();

  const SimStream& stream() const { return stream_; }

 private:
  struct Use {
    at::Tensor tensor;
    bool writes;
  };
  void note_uses();

  const std::string what_;
  const SimStream stream_;
  std::vector<Use> uses_;
  SimMoment moment_;
};

/// Where memory that is allocated now belongs.
SimMoment sim_allocation(int card);

class SimAccess;

/// The memory is given back. What is wrong with that is thrown by the card's next operation.
void note_freed(const SimAccess& access);

/// The tensor's memory is used on that stream too.
void record_sim_stream(SimAccess& access, const SimStream& stream);

}  // namespace pagoda
