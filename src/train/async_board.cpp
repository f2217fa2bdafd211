#include "train/async_board.h"

#include <pagoda/base/error.h>

#include <string>
#include <utility>

#include "base/patience.h"

namespace pagoda {
namespace {

[[noreturn]] void report_late(const char* what, std::chrono::milliseconds timeout) {
  throw DeviceError(std::string("no tower ") + what + " within " + std::to_string(timeout.count()) +
                    " ms; raise the timeout if a step is really that long");
}

}  // namespace

int AsyncBoard::take_tower(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  if (!Patience(timeout).wait(changed_, lock, [this] { return !free_.empty(); }))
    report_late("became free", timeout);
  const int next = free_.front();
  free_.pop_front();
  return next;
}

void AsyncBoard::give_back(int tower, bool failed) {
  {
    const std::lock_guard lock(mutex_);
    if (failed) {
      failed_ = true;
      free_.push_front(tower);
    } else {
      free_.push_back(tower);
    }
  }
  changed_.notify_all();
}

void AsyncBoard::add(Done done) {
  const std::lock_guard lock(mutex_);
  done_.push_back(std::move(done));
}

std::vector<AsyncBoard::Done> AsyncBoard::take_done(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  if (!Patience(timeout).wait(changed_, lock, [this] { return !done_.empty() || failed_; }))
    report_late("made an update", timeout);
  return std::exchange(done_, {});
}

bool AsyncBoard::failed() const {
  const std::lock_guard lock(mutex_);
  return failed_;
}

void AsyncBoard::clear(int towers) {
  const std::lock_guard lock(mutex_);
  failed_ = false;
  done_.clear();
  free_.clear();
  for (int tower = 0; tower < towers; ++tower) free_.push_back(tower);
}

}  // namespace pagoda
