#include <pagoda/base/error.h>
#include <pagoda/tower/tower_error.h>

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "reduce/card_link.h"

namespace pagoda {
namespace {

class SimLink final : public CardLink {
 public:
  explicit SimLink(const Replicas& replicas)
      : towers_(replicas.size()), timeout_(replicas.options().timeout) {
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
    for (const auto& [number, values] : started) values.copy_(result_of(number));
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
    at::Tensor result;  // once all have arrived
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
    const at::Tensor copy = given.defined()
                                ? given.to(at::kCPU, given.scalar_type(), /*non_blocking=*/false,
                                           /*copy=*/true)
                                : given;
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
    if (++call.arrived < towers_) return;
    call.result = call.given[from == kSum ? 0 : static_cast<std::size_t>(from)];
    if (from == kSum) {  // in tower order, whoever came first
      for (std::size_t i = 1; i < call.given.size(); ++i) call.result.add_(call.given[i]);
    }
    call.given.clear();
    changed_.notify_all();
  }

  at::Tensor result_of(std::int64_t number) {
    std::unique_lock lock(mutex_);
    const bool there = changed_.wait_for(
        lock, timeout_, [&] { return aborted_ || calls_[number].result.defined(); });
    if (!there) throw DeviceError("a card did not get its part of a sum in time");
    if (aborted_) throw TowerInterrupted();
    Call& call = calls_[number];
    const at::Tensor result = call.result;
    if (++call.taken == towers_) calls_.erase(number);
    return result;
  }

  const int towers_;
  const std::chrono::milliseconds timeout_;
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
