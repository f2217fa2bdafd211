#include <pagoda/base/error.h>
#include <pagoda/tower/tower_error.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include "base/patience.h"
#include "reduce/card_link.h"
#include "sim/host_view.h"
#include "sim/sim_card.h"

namespace pagoda {
namespace {

/// What the cards of a link meet at, of all processes where these are threads of one.
class SimHub {
 public:
  static constexpr int kSum = -1;

  /// A card's part of a call.
  struct Part {
    std::string what;  ///< describes the call, alike on all cards
    int from;          ///< the card whose values all get, or kSum
    at::Tensor given;  ///< in CPU memory; undefined where another card's are taken
    SimTime sent;      ///< when they have left the card
    SimCard* card;
  };
  struct Result {
    at::Tensor values;  ///< undefined where it is not there in time
    SimTime there;      ///< when it reaches the card
  };

  explicit SimHub(int cards) : cards_(cards) { clear(); }

  /// A card's part of its next call. Returns the call's number.
  std::int64_t give(int card, Part part) {
    const std::lock_guard lock(mutex_);
    if (aborted_) throw TowerInterrupted();
    const auto index = static_cast<std::size_t>(card);
    const std::int64_t number = next_[index]++;
    Call& call = calls_[number];
    if (call.arrived > 0 && call.what != part.what) {
      throw DeviceError("call " + std::to_string(number) + " of the cards' link is a " + part.what +
                        " on tower " + std::to_string(card) + " and a " + call.what +
                        " on another; NCCL would hang, or mix them up");
    }
    call.what = part.what;
    call.parts.resize(next_.size());
    call.parts[index] = std::move(part);
    if (++call.arrived < cards_) return number;
    complete(call);
    changed_.notify_all();
    return number;
  }

  /// The result of a call for one card; empty if it is not there after one wait.
  Result take(int card, std::int64_t number, Patience& patience) {
    std::unique_lock lock(mutex_);
    if (!aborted_ && !calls_[number].result.defined()) patience.wait(changed_, lock);
    if (aborted_) throw TowerInterrupted();
    Call& call = calls_[number];
    if (!call.result.defined()) return {};
    const Result result{call.result, call.there[static_cast<std::size_t>(card)]};
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
    std::string what;
    std::vector<Part> parts;  // by card
    int arrived = 0;
    int taken = 0;
    at::Tensor result;           // once all have arrived
    std::vector<SimTime> there;  // by card
  };

  /// Forms the result and sends it to the cards, which takes the time that their links need.
  static void complete(Call& call) {
    const int from = call.parts.front().from;
    call.result = call.parts[from == kSum ? 0 : static_cast<std::size_t>(from)].given;
    if (from == kSum) {  // in the cards' order, whoever came first
      for (std::size_t i = 1; i < call.parts.size(); ++i) call.result.add_(call.parts[i].given);
    }
    SimTime sent{};
    for (const Part& part : call.parts) sent = std::max(sent, part.sent);
    for (int card = 0; card < static_cast<int>(call.parts.size()); ++card) {
      SimCard& one = *call.parts[static_cast<std::size_t>(card)].card;
      call.there.push_back(
          card == from ? sent : one.send(SimCard::Way::into_card, call.result.nbytes(), sent));
    }
    call.parts.clear();
  }

  const int cards_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  bool aborted_ = false;
  std::map<std::int64_t, Call> calls_;  // by number
  std::vector<std::int64_t> next_;      // number of each card's next call
};

/// Begins at once, on streams of its own, and takes the time that the cards' links need: each way
/// once for the values of a sum.
class SimLink final : public CardLink {
 public:
  SimLink(const Replicas& replicas, LinkPlace place, std::shared_ptr<SimHub> hub,
          std::function<bool()> peers_have_failed)
      : first_(place.first),
        timeout_(replicas.options().timeout),
        hub_(std::move(hub)),
        peers_have_failed_(std::move(peers_have_failed)),
        started_(static_cast<std::size_t>(replicas.size())) {
    const c10::impl::VirtualGuardImpl cards(c10::DeviceType::PrivateUse1);
    for (const Device& device : replicas.devices()) {
      cards_.push_back(device.index);
      streams_.push_back(cards.getStreamFromGlobalPool(device.torch_device(), true));
    }
  }

  void start_sum(int tower, const at::Tensor& values) override {
    start(tower, values, values, SimHub::kSum);
  }

  void start_broadcast(int tower, int from, const at::Tensor& values) override {
    start(tower, values, from == tower ? values : at::Tensor(), from);
  }

  void wait(int tower) override {
    const auto started = std::exchange(started_[static_cast<std::size_t>(tower)], {});
    if (started.empty()) hub_->check_not_aborted();
    for (const auto& [number, values] : started) put(tower, values, result_of(number, tower));
    c10::Event done(c10::DeviceType::PrivateUse1);
    done.record(stream(tower));
    done.block(current_stream(tower));
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
    SimHub::Part part{.what = description(values, from),
                      .from = from,
                      .given = taken_up(tower, values, given),
                      .sent = {},
                      .card = &card(tower)};
    if (given.defined()) part.sent = card(tower).send(SimCard::Way::out_of_card, given.nbytes());
    started_[static_cast<std::size_t>(tower)].push_back(
        {hub_->give(first_ + tower, std::move(part)), values});
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
    constexpr std::chrono::milliseconds kPeriod{100};  // between looks at the other processes
    Patience patience(timeout_, kPeriod);
    while (patience.left() > Patience::Clock::duration::zero()) {
      const SimHub::Result result = hub_->take(first_ + tower, number, patience);
      if (result.values.defined()) {
        std::this_thread::sleep_until(result.there);
        return result.values;
      }
      if (peers_have_failed_ && peers_have_failed_()) throw TowerInterrupted();
    }
    throw DeviceError("a card did not get its part of a sum in time");
  }

  const int first_;
  const std::chrono::milliseconds timeout_;
  const std::shared_ptr<SimHub> hub_;
  const std::function<bool()> peers_have_failed_;  // empty: the process is alone
  std::vector<int> cards_;                         // by tower
  std::vector<c10::Stream> streams_;               // by tower: where the link works
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
