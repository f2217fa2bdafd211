#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pagoda {

class MemoryAccount;

/// How one simulated card behaves.
struct SimCardOptions {
  /// Of the card; tensors beyond it are refused.
  std::int64_t memory_bytes = std::int64_t{4} << 30;
  /// Every operation takes this many times as long as on a core of the host.
  double slow_down = 1;
  /// Bytes a second between this card and the rest of the machine; unset copies at memory speed.
  std::optional<double> link_speed = std::nullopt;
  /// The card's first operation from this training step on fails, once, as if it had been lost.
  std::optional<std::int64_t> fail_at_step = std::nullopt;
  /// From that operation on every one fails, as on a real card that has been lost.
  bool stays_lost = false;
};

/// A card to simulate.
struct SimCardSpec {
  SimCardOptions options = {};  ///< how it behaves
  int original = 0;             ///< its number before masking
};

/// Cards that a process can have at most: LibTorch fixes the number at the first backward.
inline constexpr int kMostSimCards = 16;

/// Sets up simulated cards, `sim:0`, `sim:1`, …: devices of LibTorch (PrivateUse1) with their own
/// memory, limit, generator and current device, whose operations run on one core of the host each.
/// Operators that `missing_kernels` names ("aten::cumsum.out") have no kernel on them; `strict` is
/// explained at SimOptions. A later call changes number and behaviour; memory in use stays. Programs
/// call `simulate_devices` instead.
///
/// Threads: call it while no operation runs on a card, and before the first backward of the
/// process. Fails: UsageError for an option out of range; DeviceError after a first backward
/// without cards, or when the process has another PrivateUse1 backend.
void simulate_cards(const std::vector<SimCardSpec>& cards,
                    const std::vector<std::string>& missing_kernels = {}, bool strict = true);

/// How many cards there are; 0 before `simulate_cards`.
int sim_card_count();

/// What a card was set up as.
const SimCardSpec& sim_card_spec(int card);

/// What is in use on a card, and its limit.
MemoryAccount& sim_card_memory(int card);

/// Tells a card which step its tower is about to compute, for `fail_at_step`.
void note_sim_card_step(int card, std::int64_t step);

}  // namespace pagoda
