#pragma once

#include <ATen/core/Generator.h>

namespace pagoda {

/// A generator of a simulated card. It draws what a CPU generator with the same seed draws, so that
/// a model computes the same on a card as on a CPU tower.
at::Generator make_sim_generator(int card);

/// The CPU generator that a card's generator draws from.
/// Fails: UsageError for a generator of another card or kind of device.
at::Generator host_generator(const at::Generator& generator, int card);

}  // namespace pagoda
