#include <pagoda/base/error.h>
#include <pagoda/tower/tower_error.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include "reduce/card_link.h"

namespace pagoda {
namespace {

/// What the cards of a link meet at, of all processes where these are threads of one.
class SimHub {
 public:
  static constexpr int kSum = -1;

  explicit SimHub(int cards) : cards_(cards) { clear(); }

  /// A card's part of its next call: of a sum, or of what card `from` gives, which alone gives
  /// something. `what` describes it, alike on all cards.
  std::int64_t give(int card, const std::string& what, const at::Tensor& given, int from) {
    const std::lock_guard lock(mutex_);
    if (aborted_) throw TowerInterrupted();
    const auto index = static_cast<std::size_t>(card);
    const std::int64_t number = next_[index]++;
    Call& call = calls_[number];
    if (call.arrived > 0 && call.what != what) {
      throw DeviceError("call " + std::to_string(number) + " of the cards' link is a " + what +
                        " on tower " + std::to_string(card) + " and a " + call.what +
                        " on another; NCCL would hang, or mix them up");
    }
    call.what = what;
    call.given.resize(next_.size());
    call.given[index] = given;
    if (++call.arrived < cards_) return number;
    call.result = call.given[from == kSum ? 0 : static_cast<std::size_t>(from)];
    if (from == kSum) {  // in the cards' order, whoever came first
      for (std::size_t i = 1; i < call.given.size(); ++i) call.result.add_(call.given[i]);
    }
    call.given.clear();
    changed_.notify_all();
    return number;
  }

  /// The result of a call; undefined when it is not there after so long.
  at::Tensor take(std::int64_t number, std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    const bool there =
        changed_.wait_for(lock, time, [&] { return aborted_ || calls_[number].result.defined(); });
    if (!there) return {};
    if (aborted_) throw TowerInterrupted();
    Call& call = calls_[number];
    const at::Tensor result = call.result;
    if (++call.taken == cards_) calls_.erase(number);
    return result;
  }

  void check_not_aborted() {
    const std::lock_guard lock(mutex_);
    if (aborted_) throw TowerInterrupted();
  }

  void abort() {
    {
      const std::lock_guard lock(mutex_);
      aborted_ = true;
    }
    changed_.notify_all();
  }

  void clear() {
    const std::lock_guard lock(mutex_);
    aborted_ = false;
    calls_.clear();
    next_.assign(static_cast<std::size_t>(cards_), 0);
  }

 private:
  struct Call {
    std::string what;               // the same on all cards
    std::vector<at::Tensor> given;  // by card, in CPU memory
    int arrived = 0;
    int taken = 0;
    at::Tensor result;  // once all have arrived
  };

  const int cards_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  bool aborted_ = false;
  std::map<std::int64_t, Call> calls_;  // by number
  std::vector<std::int64_t> next_;      // number of each card's next call
};

class SimLink final : public CardLink {
 public:
  SimLink(const Replicas& replicas, LinkPlace place, std::shared_ptr<SimHub> hub,
          std::function<bool()> peers_have_failed)
      : first_(place.first),
        timeout_(replicas.options().timeout),
        hub_(std::move(hub)),
        peers_have_failed_(std::move(peers_have_failed)),
        started_(static_cast<std::size_t>(replicas.size())) {}

  void start_sum(int tower, const at::Tensor& values) override {
    start(tower, values, values, SimHub::kSum);
  }

  void start_broadcast(int tower, int from, const at::Tensor& values) override {
    start(tower, values, from == tower ? values : at::Tensor(), from);
  }

  void wait(int tower) override {
    const auto started = std::exchange(started_[static_cast<std::size_t>(tower)], {});
    if (started.empty()) hub_->check_not_aborted();
    for (const auto& [number, values] : started) values.copy_(result_of(number));
  }

  void abort() override { hub_->abort(); }

  void reset() override {
    for (auto& one : started_) one.clear();
    if (!peers_have_failed_) hub_->clear();
  }

 private:
  struct Started {
    std::int64_t number;
    at::Tensor values;
  };

  static std::string description(const at::Tensor& values, int from) {
    return (from == SimHub::kSum ? "sum" : "broadcast of tower " + std::to_string(from) + "'s") +
           " " + std::to_string(values.numel()) + " values of type " +
           c10::toString(values.scalar_type());
  }

  void start(int tower, const at::Tensor& values, const at::Tensor& given, int from) {
    check_card_values(values);
    const std::string what = description(values, from);
    const at::Tensor copy = given.defined()
                                ? given.to(at::kCPU, given.scalar_type(), /*non_blocking=*/false,
                                           /*copy=*/true)
                                : given;
    started_[static_cast<std::size_t>(tower)].push_back(
        {hub_->give(first_ + tower, what, copy, from), values});
  }

  at::Tensor result_of(std::int64_t number) {
    constexpr std::chrono::milliseconds kPeriod{100};
    const auto end = std::chrono::steady_clock::now() + timeout_;
    for (auto left = timeout_; left.count() > 0;
         left = std::chrono::duration_cast<std::chrono::milliseconds>(
             end - std::chrono::steady_clock::now())) {
      const at::Tensor result = hub_->take(number, std::min(left, kPeriod));
      if (result.defined()) return result;
      if (peers_have_failed_ && peers_have_failed_()) throw TowerInterrupted();
    }
    throw DeviceError("a card did not get its part of a sum in time");
  }

  const int first_;
  const std::chrono::milliseconds timeout_;
  const std::shared_ptr<SimHub> hub_;
  const std::function<bool()> peers_have_failed_;  // empty: the process is alone
  std::vector<std::vector<Started>> started_;      // by tower, in its threads one after another
};

/// Hubs that are being shared, by name: where threads that stand for processes find the one that
/// rank 0 has made.
class SharedHubs {
 public:
  std::string add(const std::shared_ptr<SimHub>& hub) {
    const std::lock_guard lock(mutex_);
    const std::string name = std::to_string(++count_) + " of " + own_name_;
    hubs_[name] = hub;
    return name;
  }
  std::shared_ptr<SimHub> find(const std::string& name) {
    const std::lock_guard lock(mutex_);
    const auto found = hubs_.find(name);
    return found == hubs_.end() ? nullptr : found->second;
  }
  void remove(const std::string& name) {
    const std::lock_guard lock(mutex_);
    hubs_.erase(name);
  }

 private:
  // Another process, also one on another machine, must not find its own by the same name.
  const std::string own_name_ =
      std::to_string(getpid()) + "-" + std::to_string(std::random_device()());
  std::mutex mutex_;
  int count_ = 0;
  std::map<std::string, std::shared_ptr<SimHub>> hubs_;
};

/// The same one for all peers; null where some are in another process.
std::shared_ptr<SimHub> hub_of_all(const LinkPeers& peers, int cards) {
  static SharedHubs shared;
  const bool first = peers.rank == 0;
  const std::string name =
      peers.gather(first ? shared.add(std::make_shared<SimHub>(cards)) : "").front();
  std::shared_ptr<SimHub> hub = shared.find(name);
  const auto found = peers.gather(hub ? "found" : "not found");
  if (first) shared.remove(name);
  const bool everywhere =
      std::count(found.begin(), found.end(), "found") == static_cast<std::ptrdiff_t>(found.size());
  return everywhere ? hub : nullptr;
}

}  // namespace

std::unique_ptr<CardLink> make_sim_link(const Replicas& replicas, LinkPlace place,
                                        const std::optional<LinkPeers>& peers) {
  auto hub = peers ? hub_of_all(*peers, place.total) : std::make_shared<SimHub>(place.total);
  if (!hub) return nullptr;
  return std::make_unique<SimLink>(replicas, place, std::move(hub),
                                   peers ? peers->has_failed : nullptr);
}

}  // namespace pagoda
