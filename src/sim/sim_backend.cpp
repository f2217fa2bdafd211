#include "sim/sim_backend.h"

#include <pagoda/base/error.h>

#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <ATen/native/Resize.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include "sim/sim_card.h"
#include "sim/sim_generator.h"
#include "sim/sim_init.h"
#include "sim/sim_memory.h"

namespace pagoda {
namespace {

/// The current card of each thread: what cudaSetDevice sets for CUDA.
thread_local c10::DeviceIndex current_card = 0;

/// Operations finish before they return, so there is one stream and events have nothing to do.
struct SimGuard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return c10::DeviceType::PrivateUse1; }
  c10::Device exchangeDevice(c10::Device device) const override {
    const c10::Device old = getDevice();
    setDevice(device);
    return old;
  }
  c10::Device getDevice() const override { return sim_torch_device(current_card); }
  void setDevice(c10::Device device) const override {
    if (device.index() < 0) return;
    if (device.index() >= sim_card_count()) {
      throw DeviceError(device.str() + " is not there: " + std::to_string(sim_card_count()) +
                        " cards are simulated");
    }
    if (device.index() != current_card) sim_card(device.index()).open_context();  // as CUDA 12 does
    current_card = device.index();
  }
  void uncheckedSetDevice(c10::Device device) const noexcept override {
    if (device.index() >= 0) current_card = device.index();
  }
  c10::Stream getStream(c10::Device device) const override { return default_stream(device); }
  c10::Stream getDefaultStream(c10::Device device) const override { return default_stream(device); }
  c10::Stream getStreamFromGlobalPool(c10::Device device, bool) const override {
    return default_stream(device);
  }
  c10::Stream getNewStream(c10::Device device, int) const override {
    return default_stream(device);
  }
  c10::Stream exchangeStream(c10::Stream stream) const override { return stream; }
  // The most that there can ever be: autograd starts one thread for each at its first backward.
  c10::DeviceIndex deviceCount() const noexcept override { return kMostSimCards; }

  void record(void**, const c10::Stream&, c10::DeviceIndex, c10::EventFlag) const override {}
  void block(void*, const c10::Stream&) const override {}
  bool queryEvent(void*) const override { return true; }
  void destroyEvent(void*, c10::DeviceIndex) const noexcept override {}
  void synchronizeEvent(void*) const override {}
  bool queryStream(const c10::Stream&) const override { return true; }
  void synchronizeStream(const c10::Stream&) const override {}
  void synchronizeDevice(c10::DeviceIndex) const override {}
  void recordDataPtrOnStream(const c10::DataPtr&, const c10::Stream&) const override {}

 private:
  c10::Stream default_stream(c10::Device device) const {
    const int card = device.index() < 0 ? current_card : device.index();
    return c10::Stream(c10::Stream::DEFAULT, sim_torch_device(card));
  }
};

struct SimHooks final : at::PrivateUse1HooksInterface {
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return sim_card_count() > 0; }
  bool hasPrimaryContext(c10::DeviceIndex card) const override {
    return sim_card(card).has_context();
  }
  void init() const override { note_sim_initialised(); }
  c10::DeviceIndex deviceCount() const override {
    return static_cast<c10::DeviceIndex>(sim_card_count());
  }
  void setCurrentDevice(c10::DeviceIndex card) const override {
    SimGuard().setDevice(sim_torch_device(card));
  }
  c10::DeviceIndex getCurrentDevice() const override { return current_card; }
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex card) const override {
    return SimGuard().exchangeDevice(sim_torch_device(card)).index();
  }
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex card) const override {
    return exchangeDevice(card);
  }
  const at::Generator& getDefaultGenerator(c10::DeviceIndex card) const override {
    return sim_card(card < 0 ? current_card : card).generator();
  }
  at::Generator getNewGenerator(c10::DeviceIndex card) const override {
    return make_sim_generator(card < 0 ? current_card : card);
  }
  c10::Allocator* getPinnedMemoryAllocator() const override { return c10::GetCPUAllocator(); }
  void resizePrivateUse1Bytes(const c10::Storage& storage, std::size_t bytes) const override {
    at::native::resize_bytes_cpu(storage.unsafeGetStorageImpl(), bytes);  // it is host memory
  }
};

}  // namespace

void register_sim_backend() {
  const bool taken = c10::is_privateuse1_backend_registered() || at::isPrivateUse1HooksRegistered();
  if (taken) {
    throw DeviceError("this process has another PrivateUse1 backend, '" +
                      c10::get_privateuse1_backend() + "'; cards cannot be simulated beside it");
  }
  c10::register_privateuse1_backend("sim");
  c10::SetAllocator(c10::DeviceType::PrivateUse1, sim_allocator());
  // LibTorch keeps both for as long as the process lives.
  const c10::impl::DeviceGuardImplRegistrar guard(c10::DeviceType::PrivateUse1, new SimGuard);
  at::RegisterPrivateUse1HooksInterface(new SimHooks);
}

}  // namespace pagoda
