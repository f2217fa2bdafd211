#include "tower/batch_norm_exchange.h"

#include <pagoda/base/error.h>
#include <pagoda/tower/tower_error.h>

#include <limits>
#include <utility>

#include "base/patience.h"

namespace pagoda {
namespace {

thread_local BatchNormTurn* this_threads_turn = nullptr;

}  // namespace

BatchNormExchange::BatchNormExchange(int towers, std::chrono::milliseconds timeout)
    : timeout_(timeout), at_(static_cast<std::size_t>(towers)) {}

void BatchNormExchange::begin_step(std::vector<int> feeds) {
  const std::lock_guard lock(mutex_);
  feeds_ = std::move(feeds);
  at_.assign(feeds_.size(), -1);
  waits_.assign(feeds_.size(), 0);
  meetings_.clear();
  aborted_ = false;
}

void BatchNormExchange::next_feed(int tower) {
  {
    const std::lock_guard lock(mutex_);
    ++at_[static_cast<std::size_t>(tower)];
  }
  changed_.notify_all();
}

void BatchNormExchange::end_feeds(int tower) {
  {
    const std::lock_guard lock(mutex_);
    at_[static_cast<std::size_t>(tower)] = std::numeric_limits<int>::max();
  }
  changed_.notify_all();
}

void BatchNormExchange::abort() {
  {
    const std::lock_guard lock(mutex_);
    aborted_ = true;
  }
  changed_.notify_all();
}

std::string BatchNormExchange::missing_from(const Meeting& meeting, int feed) const {
  std::string list;
  for (int tower = 0; tower < static_cast<int>(feeds_.size()); ++tower) {
    if (!takes_part(tower, feed) || meeting.found.contains(tower)) continue;
    list += (list.empty() ? "tower " : ", tower ") + std::to_string(tower);
  }
  return list;
}

void BatchNormExchange::check_comes(const Meeting& meeting, int feed) const {
  constexpr const char* kSame =
      "BatchNorm over all towers needs the same calls on each of them, but ";
  constexpr const char* kAdvice =
      "; a model whose layers depend on its data cannot use TowerOptions::sync_batch_norm";
  bool someone_goes_on = false;
  for (int tower = 0; tower < static_cast<int>(feeds_.size()); ++tower) {
    if (!takes_part(tower, feed)) continue;
    const bool over = at_[static_cast<std::size_t>(tower)] > feed;
    if (over && !meeting.found.contains(tower)) {
      throw UsageError(kSame + ("tower " + std::to_string(tower)) +
                       " has ended its feed with fewer" + kAdvice);
    }
    someone_goes_on |= !over && !waits_[static_cast<std::size_t>(tower)];
  }
  if (!someone_goes_on) {
    throw UsageError(kSame + std::string("all wait for each other in different ones") + kAdvice);
  }
}

void BatchNormExchange::complete(Meeting& meeting) {
  meeting.readers = static_cast<int>(meeting.found.size());
  for (const auto& [tower, numbers] : meeting.found) waits_[static_cast<std::size_t>(tower)] = 0;
  changed_.notify_all();
}

std::vector<at::Tensor> BatchNormExchange::exchange(const Place& place, at::Tensor own) {
  Patience patience(timeout_);
  const Key key(place.feed, place.call, place.pass);
  std::unique_lock lock(mutex_);
  Meeting& meeting = meetings_[key];
  meeting.found.emplace(place.tower, std::move(own));
  waits_[static_cast<std::size_t>(place.tower)] = 1;
  if (missing_from(meeting, place.feed).empty()) complete(meeting);
  while (meeting.readers == 0) {
    if (aborted_) throw TowerInterrupted();
    check_comes(meeting, place.feed);
    if (patience.wait(changed_, lock)) continue;
    throw DeviceError("BatchNorm over all towers waited for " + missing_from(meeting, place.feed) +
                      " longer than " + std::to_string(timeout_.count()) +
                      " ms; raise the timeout if the step is really that long");
  }
  std::vector<at::Tensor> all;
  for (const auto& [tower, numbers] : meeting.found) all.push_back(numbers);
  if (--meeting.readers == 0) meetings_.erase(key);
  return all;
}

BatchNormTurn::BatchNormTurn(std::shared_ptr<BatchNormExchange> exchange, int tower,
                             std::int64_t smallest_feed)
    : exchange_(std::move(exchange)), tower_(tower), smallest_feed_(smallest_feed) {
  this_threads_turn = this;
}

BatchNormTurn::~BatchNormTurn() {
  this_threads_turn = nullptr;
  if (!exchange_) return;
  if (std::uncaught_exceptions() > exceptions_) {
    exchange_->abort();
  } else {
    exchange_->end_feeds(tower_);
  }
}

BatchNormTurn* BatchNormTurn::here() { return this_threads_turn; }

void BatchNormTurn::next_feed() {
  ++feed_;
  calls_ = 0;
  if (exchange_) exchange_->next_feed(tower_);
}

BatchNormExchange::Place BatchNormTurn::next_call() {
  return {tower_, feed_, calls_++, BatchNormExchange::Pass::forward};
}

}  // namespace pagoda
