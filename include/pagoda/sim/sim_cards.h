#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pagoda {

class MemoryAccount;

/// How one simulated card behaves.
struct SimCardOptions {
  /// The card's memory, in bytes; tensors beyond it are refused.
  std::int64_t memory_bytes = std::int64_t{4} << 30;
  /// Every operation takes this many times as long as on a core of the host; at least 1.
  double slow_down = 1;
  /// Bytes per second between this card and the rest of the machine, each way; unset: copies run at
  /// memory speed.
  std::optional<double> link_speed = std::nullopt;
  /// The card's first operation at or after this training step fails, once, as if the card had been
  /// lost.
  std::optional<std::int64_t> fail_at_step = std::nullopt;
  /// Whether every operation from that one on fails, as on a real card that has been lost.
  bool stays_lost = false;
};

/// A card to simulate.
struct SimCardSpec {
  SimCardOptions options = {};  ///< how it behaves
  int original = 0;             ///< its number before masking
};

/// The largest number of cards that a process can simulate: LibTorch fixes it at the first
/// backward.
inline constexpr int kMostSimCards = 16;

/// Sets up simulated cards, `sim:0`, `sim:1`, …: LibTorch devices (PrivateUse1) with their own
/// memory, limit, generator and current device, each of which runs its operations on one core of
/// the host. Operators that `missing_kernels` names ("aten::cumsum.out") have no kernel on them;
/// `strict` is explained at SimOptions. A later call changes their number and behaviour; memory in
/// use stays in use. Programs call `simulate_devices` instead.
///
/// Threads: call it while no operation runs on a card, and for the first time before the process's
/// first backward.
/// Fails: UsageError for a number or option out of range; DeviceError if the first call comes after
/// a backward, or if the process has another PrivateUse1 backend.
void simulate_cards(const std::vector<SimCardSpec>& cards,
                    const std::vector<std::string>& missing_kernels = {}, bool strict = true);

/// How many cards there are; 0 before `simulate_cards`.
int sim_card_count();

/// How a card was set up.
const SimCardSpec& sim_card_spec(int card);

/// The memory in use on a card, and its limit.
MemoryAccount& sim_card_memory(int card);

/// Tells a card which step its tower is about to compute, for `fail_at_step`.
void note_sim_card_step(int card, std::int64_t step);

}  // namespace pagoda
