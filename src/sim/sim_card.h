#pragma once

#include <pagoda/memory/memory_account.h>
#include <pagoda/sim/sim_cards.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include <ATen/core/Generator.h>
#include <c10/core/Allocator.h>
#include <c10/core/Device.h>

#include "sim/sim_streams.h"

namespace pagoda {

/// One simulated card: its behaviour, its memory and its default generator.
///
/// Threads: `configure` while nothing runs on the card; the rest from any thread.
class SimCard {
 public:
  explicit SimCard(int number);

  int number() const { return number_; }
  void configure(const SimCardSpec& spec);
  const SimCardSpec& spec() const { return spec_; }
  const SimCardOptions& options() const { return spec_.options; }
  MemoryAccount& memory() { return memory_; }
  const at::Generator& generator() const { return generator_; }

  void note_step(std::int64_t step) { step_ = step; }

  /// Fails: DeviceError when the card is to fail now; UsageError with what was noted before.
  void begin_operation();

  /// Something was wrong where nothing could be thrown: the next operation does.
  void fail_next_operation(std::string error);

  /// What the process needs on a card before it can do anything there, which on CUDA takes hundreds
  /// of megabytes: opened at the first use.
  void open_context();
  bool has_context() const { return has_context_; }

  enum class Way { into_card, out_of_card };

  /// Sends so many bytes over the link, where they go after what is on that way already, and not
  /// before `earliest`. Returns when they have arrived.
  SimTime send(Way way, std::size_t bytes, SimTime earliest = {});

  /// What has gone over the link since the card was configured.
  struct Traffic {
    std::int64_t copies = 0;
    std::int64_t bytes = 0;
  };
  Traffic traffic(Way way) const;

  /// A copy over a link that has a speed.
  struct Sent {
    Way way;
    SimTime begin;
    SimTime end;
    std::size_t bytes;
  };
  /// The latest of them, for a picture of what overlaps.
  std::vector<Sent> last_sent() const;

 private:
  const int number_;
  SimCardSpec spec_;
  MemoryAccount memory_;
  at::Generator generator_;
  std::atomic<std::int64_t> step_ = -1;
  std::atomic<bool> will_fail_ = false;
  std::atomic<bool> is_lost_ = false;  // for good
  std::atomic<bool> has_context_ = false;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::string error_;
  struct Link {
    SimTime free_at = {};
    Traffic traffic = {};
  };
  std::array<Link, 2> links_ = {};  // by Way
  std::deque<Sent> sent_;           // not many
};

/// Whether the cards forgive nothing that CUDA does not forgive.
bool sim_cards_are_strict();

/// Card `number`, whether or not it is among the simulated ones at present.
SimCard& sim_card(int number);

inline c10::Device sim_torch_device(int number) {
  return {c10::DeviceType::PrivateUse1, static_cast<c10::DeviceIndex>(number)};
}

/// Makes an operation on a card take `slow_down` times as long, from construction to destruction.
class SlowDown {
 public:
  explicit SlowDown(const SimCard& card);
  ~SlowDown();
  SlowDown(const SlowDown&) = delete;
  SlowDown& operator=(const SlowDown&) = delete;

 private:
  const double factor_;
  std::int64_t begin_ = 0;  // nanoseconds
};

}  // namespace pagoda
