#include "sim/sim_card.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include "sim/sim_generator.h"
#include "sim/sim_init.h"

namespace pagoda {
namespace {

constexpr std::size_t kSentKept = 64;

std::string label(int number) { return "sim:" + std::to_string(number); }

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

SimCard::SimCard(int number)
    : number_(number), memory_(label(number)), generator_(make_sim_generator(number)) {}

void SimCard::configure(const SimCardSpec& spec) {
  spec_ = spec;
  memory_.set_limit(options().memory_bytes);
  memory_.reset_peak();
  step_ = -1;
  will_fail_ = options().fail_at_step.has_value();
  is_lost_ = false;
  has_context_ = false;
  const std::lock_guard lock(mutex_);
  links_ = {};
  sent_.clear();
}

void SimCard::open_context() {
  if (!SimSetUp::under_way()) has_context_ = true;
}

void SimCard::begin_operation() {
  open_context();
  {
    const std::lock_guard lock(mutex_);
    if (!error_.empty()) throw UsageError(std::exchange(error_, ""));
  }
  if (!will_fail_.load(std::memory_order_relaxed)) return;
  if (!is_lost_ && step_ < *options().fail_at_step) return;
  if (!options().stays_lost && !will_fail_.exchange(false)) return;
  is_lost_ = options().stays_lost;
  throw DeviceError(label(number_) + " was lost at step " +
                    std::to_string(*options().fail_at_step) +
                    ", as its options ask for; resume from a checkpoint or leave it out");
}

void SimCard::fail_next_operation(std::string error) {
  const std::lock_guard lock(mutex_);
  if (error_.empty()) error_ = std::move(error);
}

SimTime SimCard::send(Way way, std::size_t bytes, SimTime earliest) {
  const SimTime now = std::chrono::steady_clock::now();
  const std::lock_guard lock(mutex_);
  Link& link = links_[static_cast<std::size_t>(way)];
  ++link.traffic.copies;
  link.traffic.bytes += static_cast<std::int64_t>(bytes);
  if (!options().link_speed) return std::max(now, earliest);
  const std::chrono::duration<double> takes(static_cast<double>(bytes) / *options().link_speed);
  const SimTime begin = std::max({now, earliest, link.free_at});
  link.free_at = begin + std::chrono::duration_cast<SimTime::duration>(takes);
  sent_.push_back({way, begin, link.free_at, bytes});
  if (sent_.size() > kSentKept) sent_.pop_front();
  return link.free_at;
}

std::vector<SimCard::Sent> SimCard::last_sent() const {
  const std::lock_guard lock(mutex_);
  return {sent_.begin(), sent_.end()};
}

SimCard::Traffic SimCard::traffic(Way way) const {
  const std::lock_guard lock(mutex_);
  return links_[static_cast<std::size_t>(way)].traffic;
}

SlowDown::SlowDown(const SimCard& card) : factor_(card.options().slow_down) {
  if (factor_ > 1) begin_ = now_ns();
}

SlowDown::~SlowDown() {
  if (factor_ <= 1) return;
  const auto spent = static_cast<double>(now_ns() - begin_);
  std::this_thread::sleep_for(std::chrono::duration<double, std::nano>(spent * (factor_ - 1)));
}

SimCard& sim_card(int number) {
  // LibTorch's devices belong to the process, and tensors may outlive every owner that we could
  // name: these are never destroyed.
  static auto& cards = *new std::array<std::unique_ptr<SimCard>, kMostSimCards>([] {
    std::array<std::unique_ptr<SimCard>, kMostSimCards> all;
    for (int i = 0; i < kMostSimCards; ++i) {
      all[static_cast<std::size_t>(i)] = std::make_unique<SimCard>(i);
    }
    return all;
  }());
  return *cards.at(static_cast<std::size_t>(number));
}

}  // namespace pagoda
