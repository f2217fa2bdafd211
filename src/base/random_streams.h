#pragma once

#include <cstdint>

namespace pagoda {

/// A small, fast generator with 64 bits of state (SplitMix64, Steele, Lea and Flood, OOPSLA 2014).
/// Every value is a pure function of the seed and of how many were drawn, on every machine.
class SplitMix64 {
 public:
  using result_type = std::uint64_t;

  explicit SplitMix64(std::uint64_t seed) : state_(seed) {}

  std::uint64_t operator()() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }

  static constexpr std::uint64_t min() { return 0; }
  static constexpr std::uint64_t max() { return ~std::uint64_t{0}; }

  /// A number in [0, bound); bound must be positive. The bias is below 2^-32 for bounds below 2^32.
  std::uint64_t below(std::uint64_t bound) {
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>((*this)()) * bound) >> 64);
  }

  /// A number in [0, 1), with 53 random bits.
  double uniform() { return static_cast<double>((*this)() >> 11) * 0x1p-53; }

 private:
  std::uint64_t state_;
};

/// The seeds of every random stream of a run, named by what they are for.
///
/// A stream is a pure function of the run's seed and of what it is for (this step on this tower,
/// this epoch's order), never of what was drawn before. So nothing about randomness has to be saved
/// for a resume, and neither the timing of threads nor a repeated step changes a bit.
///
/// Threads: any; it is a value without state.
/// Example: `generator.set_current_seed(RandomStreams(7).tower_step(tower, step));`
class RandomStreams {
 public:
  explicit RandomStreams(std::uint64_t seed) : seed_(seed) {}

  /// The values a model is built with; the same on every tower.
  std::uint64_t initialisation() const { return mix(1, 0, 0); }

  /// What a tower draws during one step (dropout, sampling).
  std::uint64_t tower_step(int tower, std::int64_t step) const {
    return mix(2, static_cast<std::uint64_t>(tower), static_cast<std::uint64_t>(step));
  }

  /// The order of the samples in one epoch.
  std::uint64_t shuffle(std::int64_t epoch) const {
    return mix(3, static_cast<std::uint64_t>(epoch), 0);
  }

  /// What happens to one sample in one epoch (crop, flip, noise).
  std::uint64_t sample(std::int64_t epoch, std::int64_t sample) const {
    return mix(4, static_cast<std::uint64_t>(epoch), static_cast<std::uint64_t>(sample));
  }

  /// What all towers draw alike in the step that begins there in the data (sampled softmax).
  std::uint64_t step_draws(std::int64_t epoch, std::int64_t consumed) const {
    return mix(5, static_cast<std::uint64_t>(epoch), static_cast<std::uint64_t>(consumed));
  }

  /// What one layer draws for one micro-batch, where these are the streams of a tower's step:
  /// `RandomStreams(streams.tower_step(tower, step))`.
  std::uint64_t micro_batch(std::int64_t micro_batch, std::int64_t layer) const {
    return mix(6, static_cast<std::uint64_t>(micro_batch), static_cast<std::uint64_t>(layer));
  }

  /// What a card's own generator draws in backward, where these are the streams of what the tower
  /// draws itself.
  std::uint64_t backward() const { return mix(7, 0, 0); }

  std::uint64_t seed() const { return seed_; }

 private:
  std::uint64_t mix(std::uint64_t purpose, std::uint64_t a, std::uint64_t b) const {
    std::uint64_t hash = SplitMix64(seed_ ^ (purpose << 56))();
    hash = SplitMix64(hash ^ a)();
    return SplitMix64(hash ^ b)();
  }

  std::uint64_t seed_;
};

}  // namespace pagoda
