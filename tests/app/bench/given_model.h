#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "model/model_measuring.h"

namespace pagoda::app::given_model {

constexpr int kLayers = 4;

inline std::vector<Device> cards(int count) {
  std::vector<Device> devices;
  for (int i = 0; i < count; ++i) devices.push_back({.kind = DeviceKind::sim, .index = i});
  return devices;
}

/// What is asked of a bench.
struct Asked {
  int devices;
  BenchOptions options;
  BenchMode mode;
};
/// What a round of it gives; a number stands for samples a second.
struct Given : BenchRound {
  Given(double rate) : BenchRound{.samples_per_second = rate} {}  // NOLINT: a number stands for it
  Given(double rate, WorldTraffic a_step)
      : BenchRound{.samples_per_second = rate, .traffic = a_step} {}
};
using Rate = std::function<Given(const Asked& asked)>;

class GivenBench : public Bench {
 public:
  GivenBench(int devices, const BenchOptions& options, Rate rate)
      : devices_(devices), options_(options), rate_(std::move(rate)) {}
  BenchRound run(BenchMode mode) override {
    BenchRound round = rate_({devices_, options_, mode});
    round.steps = options_.steps;
    round.traffic.bytes *= round.steps;
    round.traffic.seconds *= static_cast<double>(round.steps);
    return round;
  }

 private:
  const int devices_;
  const BenchOptions options_;
  const Rate rate_;
};

/// A model of four layers that trains at given rates.
class GivenModel : public ModelMeasuring {
 public:
  explicit GivenModel(Rate rate) : rate_(std::move(rate)) {}
  int layers() const override { return kLayers; }
  std::unique_ptr<Bench> bench(const std::vector<Device>& devices,
                               const BenchOptions& options) const override {
    return std::make_unique<GivenBench>(static_cast<int>(devices.size()), options, rate_);
  }
  std::vector<at::Tensor> parameters_after(const std::vector<Device>&,
                                           const TrialOptions&) const override {
    return {};
  }

 private:
  const Rate rate_;
};

}  // namespace pagoda::app::given_model
