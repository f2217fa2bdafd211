#include "sim/sim_generator.h"

#include <pagoda/base/error.h>

#include <utility>

#include <ATen/CPUGeneratorImpl.h>

#include "sim/sim_card.h"

namespace pagoda {
namespace {

struct SimGenerator final : c10::GeneratorImpl {
  SimGenerator(int card, at::Generator host)
      : c10::GeneratorImpl(sim_torch_device(card),
                           c10::DispatchKeySet(c10::DispatchKey::PrivateUse1)),
        host(std::move(host)) {}

  void set_current_seed(std::uint64_t seed) override { host.set_current_seed(seed); }
  void set_offset(std::uint64_t offset) override { host.set_offset(offset); }
  std::uint64_t get_offset() const override { return host.get_offset(); }
  std::uint64_t current_seed() const override { return host.current_seed(); }
  std::uint64_t seed() override { return host.seed(); }
  void set_state(const c10::TensorImpl& state) override {
    host.unsafeGetGeneratorImpl()->set_state(state);
  }
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override {
    return host.unsafeGetGeneratorImpl()->get_state();
  }
  SimGenerator* clone_impl() const override {
    return new SimGenerator(device().index(), host.clone());
  }

  at::Generator host;
};

}  // namespace

at::Generator make_sim_generator(int card) {
  return at::make_generator<SimGenerator>(card, at::make_generator<at::CPUGeneratorImpl>());
}

at::Generator host_generator(const at::Generator& generator, int card) {
  if (generator.device() != sim_torch_device(card)) {
    throw UsageError("a random operation on sim:" + std::to_string(card) +
                     " was given a generator of " + generator.device().str() +
                     "; make one for the card");
  }
  return static_cast<SimGenerator*>(generator.unsafeGetGeneratorImpl())->host;
}

}  // namespace pagoda
