#include <pagoda/base/error.h>
#include <pagoda/base/number_text.h>
#include <pagoda/sim/sim_cards.h>

#include <atomic>
#include <cmath>
#include <mutex>

#include <ATen/Parallel.h>
#include <ATen/ops/ones.h>

#include "base/compute_threads.h"
#include "sim/sim_autocast.h"
#include "sim/sim_backend.h"
#include "sim/sim_card.h"
#include "sim/sim_init.h"
#include "sim/sim_kernels.h"

namespace pagoda {
namespace {

std::atomic<int> card_count = 0;
std::atomic<bool> cards_are_strict = true;

void check(int card, const SimCardOptions& options) {
  const std::string name = "sim:" + std::to_string(card);
  const auto refuse = [&](const char* what, double value, const char* range) {
    throw UsageError(std::string(what) + " of " + name + " is " + number_text(value) +
                     "; it must be " + range);
  };
  if (options.memory_bytes < 1)
    refuse("the memory", static_cast<double>(options.memory_bytes), "at least 1 byte");
  if (!(std::isfinite(options.slow_down) && options.slow_down >= 1))
    refuse("the slow-down", options.slow_down, "at least 1");
  if (options.link_speed && !(*options.link_speed > 0))
    refuse("the link speed", *options.link_speed, "above 0 bytes a second");
  if (options.fail_at_step && *options.fail_at_step < 0)
    refuse("the step to fail at", static_cast<double>(*options.fail_at_step), "at least 0");
}

/// Lets every card's backward thread, of which LibTorch keeps one each, compute on one core, as the
/// towers' threads do: sums then do not depend on the number of cores.
void prepare_backward_threads() {
  const SimSetUp set_up;
  const int threads = at::get_num_threads();
  for (int card = 0; card < kMostSimCards; ++card) {
    at::Tensor leaf = at::ones({1}, at::device(sim_torch_device(card))).requires_grad_();
    at::Tensor loss = leaf * 2;
    leaf.register_hook([](const at::Tensor&) { set_compute_threads(1); });
    try {
      loss.backward();
    } catch (const std::exception&) {
      throw DeviceError(
          "cards must be simulated before the first backward of the process, which fixes "
          "LibTorch's "
          "devices; call simulate_devices at the start of the program");
    }
  }
  set_compute_threads(threads);
}

/// Once for the process; a failure stays one.
void set_up(const std::vector<std::string>& missing_kernels) {
  static std::once_flag registered;
  static std::string failure;
  std::call_once(registered, [&] {
    try {
      register_sim_backend();
      register_sim_kernels({});
      register_sim_autocast();
      card_count = kMostSimCards;
      prepare_backward_threads();
    } catch (const Error& error) {
      failure = error.what();
    }
    card_count = 0;
  });
  if (!failure.empty()) throw DeviceError(failure);
  register_sim_kernels(missing_kernels);
}

}  // namespace

void simulate_cards(const std::vector<SimCardSpec>& cards,
                    const std::vector<std::string>& missing_kernels, bool strict) {
  if (cards.empty() || cards.size() > kMostSimCards) {
    throw UsageError("the number of simulated cards is " + std::to_string(cards.size()) +
                     "; it must be 1 to " + std::to_string(kMostSimCards));
  }
  for (std::size_t i = 0; i < cards.size(); ++i) check(static_cast<int>(i), cards[i].options);
  set_up(missing_kernels);
  for (std::size_t i = 0; i < cards.size(); ++i) sim_card(static_cast<int>(i)).configure(cards[i]);
  card_count = static_cast<int>(cards.size());
  cards_are_strict = strict;
}

int sim_card_count() { return card_count; }

bool sim_cards_are_strict() { return cards_are_strict; }

const SimCardSpec& sim_card_spec(int card) { return sim_card(card).spec(); }

MemoryAccount& sim_card_memory(int card) { return sim_card(card).memory(); }

void note_sim_card_step(int card, std::int64_t step) { sim_card(card).note_step(step); }

}  // namespace pagoda
