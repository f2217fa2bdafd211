#include <pagoda/base/error.h>
#include <pagoda/tower/tower_error.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include "reduce/card_link.h"
#include "sim/host_view.h"
#include "sim/sim_card.h"

namespace pagoda {
namespace {

/// Begins at once, on streams of its own, and takes the time that the cards' links need: each way
/// once for the values of a sum.
class SimLink final : public CardLink {
 public:
  explicit SimLink(const Replicas& replicas)
      : towers_(replicas.size()), timeout_(replicas.options().timeout) {
    const c10::impl::VirtualGuardImpl cards(c10::DeviceType::PrivateUse1);
    for (const Device& device : replicas.devices()) {
      cards_.push_back(device.index);
      streams_.push_back(cards.getStreamFromGlobalPool(device.torch_device(), true));
    }
    reset();
  }

  void start_sum(int tower, const at::Tensor& values) override {
    start(tower, values, values, kSum);
  }

  void start_broadcast(int tower, int from, const at::Tensor& values) override {
    start(tower, values, from == tower ? values : at::Tensor(), from);
  }

  void wait(int tower) override {
    std::vector<Started> started;
    {
      const std::lock_guard lock(mutex_);
      started = std::exchange(started_[static_cast<std::size_t>(tower)], {});
    }
    if (started.empty()) check_not_aborted();
    for (const auto& [number, values] : started) put(tower, values, result_of(number, tower));
    c10::Event done(c10::DeviceType::PrivateUse1);
    done.record(stream(tower));
    done.block(current_stream(tower));
  }

  void abort() override {
    {
      const std::lock_guard lock(mutex_);
      aborted_ = true;
    }
    changed_.notify_all();
  }

  void reset() override {
    const std::lock_guard lock(mutex_);
    aborted_ = false;
    calls_.clear();
    next_.assign(static_cast<std::size_t>(towers_), 0);
    started_.assign(static_cast<std::size_t>(towers_), {});
  }

 private:
  static constexpr int kSum = -1;

  struct Call {
    std::string what;               // the same on all towers
    std::vector<at::Tensor> given;  // by tower, in CPU memory
    int arrived = 0;
    int taken = 0;
    SimTime sent = {};             // when the last of it has left its card
    at::Tensor result;             // once all have arrived
    std::vector<SimTime> there;    // by tower: when it is
  };
  struct Started {
    std::int64_t number;
    at::Tensor values;
  };

  static std::string description(const at::Tensor& values, int from) {
    return (from == kSum ? "sum" : "broadcast of tower " + std::to_string(from) + "'s") + " " +
           std::to_string(values.numel()) + " values of type " +
           c10::toString(values.scalar_type());
  }

  void check_not_aborted() {
    const std::lock_guard lock(mutex_);
    if (aborted_) throw TowerInterrupted();
  }

  void start(int tower, const at::Tensor& values, const at::Tensor& given, int from) {
    check_card_values(values);
    const std::string what = description(values, from);
    const at::Tensor copy = taken_up(tower, values, given);
    const SimTime sent = given.defined()
                             ? card(tower).send(SimCard::Way::out_of_card, given.nbytes())
                             : SimTime{};
    const std::lock_guard lock(mutex_);
    if (aborted_) throw TowerInterrupted();
    const auto index = static_cast<std::size_t>(tower);
    const std::int64_t number = next_[index]++;
    Call& call = calls_[number];
    if (call.arrived > 0 && call.what != what) {
      throw DeviceError("call " + std::to_string(number) + " of the cards' link is a " + what +
                        " on tower " + std::to_string(tower) + " and a " + call.what +
                        " on another; NCCL would hang, or mix them up");
    }
    call.what = what;
    started_[index].push_back({number, values});
    call.given.resize(next_.size());
    call.given[index] = copy;
    call.sent = std::max(call.sent, sent);
    if (++call.arrived < towers_) return;
    call.result = call.given[from == kSum ? 0 : static_cast<std::size_t>(from)];
    if (from == kSum) {  // in tower order, whoever came first
      for (std::size_t i = 1; i < call.given.size(); ++i) call.result.add_(call.given[i]);
    }
    call.given.clear();
    for (int each = 0; each < towers_; ++each) {
      call.there.push_back(each == from ? call.sent
                                        : card(each).send(SimCard::Way::into_card,
                                                          call.result.nbytes(), call.sent));
    }
    changed_.notify_all();
  }

  SimCard& card(int tower) const { return sim_card(cards_[static_cast<std::size_t>(tower)]); }
  const c10::Stream& stream(int tower) const { return streams_[static_cast<std::size_t>(tower)]; }
  c10::Stream current_stream(int tower) const {
    return c10::impl::VirtualGuardImpl(c10::DeviceType::PrivateUse1)
        .getStream(stream(tower).device());
  }

  /// What the card has computed so far, as the link's stream finds it.
  at::Tensor taken_up(int tower, const at::Tensor& values, const at::Tensor& given) {
    c10::Event ready(c10::DeviceType::PrivateUse1);
    ready.record(current_stream(tower));
    ready.block(stream(tower));
    values.record_stream(stream(tower));
    const c10::StreamGuard guard(stream(tower));
    card(tower).begin_operation();
    SimOperation operation("the cards' link", card(tower).number());
    operation.writes(values);
    operation.begin();
    return given.defined() ? host_view(given).clone() : at::Tensor();
  }

  void put(int tower, const at::Tensor& values, const at::Tensor& result) {
    const c10::StreamGuard guard(stream(tower));
    SimOperation operation("the cards' link", card(tower).number());
    operation.writes(values);
    operation.begin();
    host_view(values).copy_(result);
  }

  at::Tensor result_of(std::int64_t number, int tower) {
    std::unique_lock lock(mutex_);
    const bool there = changed_.wait_for(
        lock, timeout_, [&] { return aborted_ || calls_[number].result.defined(); });
    if (!there) throw DeviceError("a card did not get its part of a sum in time");
    if (aborted_) throw TowerInterrupted();
    Call& call = calls_[number];
    const at::Tensor result = call.result;
    const SimTime arrival = call.there[static_cast<std::size_t>(tower)];
    if (++call.taken == towers_) calls_.erase(number);
    lock.unlock();
    std::this_thread::sleep_until(arrival);
    return result;
  }

  const int towers_;
  const std::chrono::milliseconds timeout_;
  std::vector<int> cards_;            // by tower
  std::vector<c10::Stream> streams_;  // by tower: where the link works
  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  bool aborted_ = false;
  std::map<std::int64_t, Call> calls_;  // by number
  std::vector<std::int64_t> next_;      // number of each tower's next call
  std::vector<std::vector<Started>> started_;
};

}  // namespace

std::unique_ptr<CardLink> make_sim_link(const Replicas& replicas) {
  return std::make_unique<SimLink>(replicas);
}

}  // namespace pagoda
