#include "sim/sim_backend.h"

#include <pagoda/base/error.h>

#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <ATen/native/Resize.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include "sim/pinned_memory.h"
#include "sim/sim_card.h"
#include "sim/sim_generator.h"
#include "sim/sim_init.h"
#include "sim/sim_memory.h"
#include "sim/sim_streams.h"

namespace pagoda {
namespace {

/// The current card of each thread: what cudaSetDevice sets for CUDA.
thread_local c10::DeviceIndex current_card = 0;

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
  c10::Stream getStream(c10::Device device) const override {
    return as_torch(current_sim_stream(card_of(device)));
  }
  c10::Stream getDefaultStream(c10::Device device) const override {
    return as_torch({card_of(device), 0});
  }
  c10::Stream getStreamFromGlobalPool(c10::Device device, bool) const override {
    sim_card(card_of(device)).open_context();
    return as_torch(next_sim_stream(card_of(device)));
  }
  c10::Stream getNewStream(c10::Device device, int) const override {
    return getStreamFromGlobalPool(device, false);
  }
  c10::Stream exchangeStream(c10::Stream stream) const override {
    return as_torch(exchange_sim_stream(as_sim(stream)));
  }
  // The most that there can ever be: autograd starts one thread for each at its first backward.
  c10::DeviceIndex deviceCount() const noexcept override { return kMostSimCards; }

  void record(void** event, const c10::Stream& stream, c10::DeviceIndex card,
              c10::EventFlag) const override {
    if (card >= 0 && card != stream.device_index()) {
      throw UsageError("an event of sim:" + std::to_string(card) + " cannot be recorded on " +
                       stream.device().str() + "; make one for each card");
    }
    if (*event == nullptr) *event = new SimEvent;
    *static_cast<SimEvent*>(*event) = record_sim_event(as_sim(stream));
  }
  void block(void* event, const c10::Stream& stream) const override {
    if (event != nullptr) block_sim_stream(as_sim(stream), *static_cast<SimEvent*>(event));
  }
  bool queryEvent(void* event) const override {
    return event == nullptr || is_done(*static_cast<SimEvent*>(event));
  }
  void destroyEvent(void* event, c10::DeviceIndex) const noexcept override {
    delete static_cast<SimEvent*>(event);
  }
  void synchronizeEvent(void* event) const override {
    if (event != nullptr) synchronise(*static_cast<SimEvent*>(event));
  }
  bool queryStream(const c10::Stream& stream) const override { return is_done(as_sim(stream)); }
  void synchronizeStream(const c10::Stream& stream) const override { synchronise(as_sim(stream)); }
  void synchronizeDevice(c10::DeviceIndex card) const override {
    synchronise_sim_card(card < 0 ? current_card : card);
  }
  void recordDataPtrOnStream(const c10::DataPtr& data, const c10::Stream& stream) const override {
    sim_allocator()->recordStream(data, stream);
  }

 private:
  static int card_of(c10::Device device) {
    return device.index() < 0 ? current_card : device.index();
  }
  static c10::Stream as_torch(const SimStream& stream) {
    return c10::Stream(c10::Stream::UNSAFE, sim_torch_device(stream.card), stream.number);
  }
  static SimStream as_sim(const c10::Stream& stream) {
    return {stream.device_index(), static_cast<int>(stream.id())};
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
  c10::Allocator* getPinnedMemoryAllocator() const override { return pinned_allocator(); }
  bool isPinnedPtr(const void* address) const override { return is_pinned(address); }
  void resizePrivateUse1Bytes(const c10::Storage& storage, std::size_t bytes) const override {
    synchronise(current_sim_stream(storage.device().index()));
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
