#include <pagoda/base/error.h>
#include <pagoda/train/async_step.h>
#include <pagoda/train/evaluate.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <limits>
#include <mutex>
#include <string>
#include <utility>

#include "train/async_parameters.h"
#include "train/tower_pass.h"

namespace pagoda {

/// Hands feeds to free towers and collects what they report; see AsyncStep.
///
/// Threads: run and finish on the coordinating thread, `compute` and what it calls in the towers'.
class AsyncSchedule final : public detail::AsyncRunner {
 public:
  AsyncSchedule(SyncStepBase& step, TowerGroup& towers, std::optional<std::int64_t> max_staleness)
      : step_(step), towers_(towers), parameters_(step, towers, max_staleness) {
    for (int number = 0; number < towers.size(); ++number) free_.push_back(number);
  }
  ~AsyncSchedule() override { drop(); }

  StepResult run(std::vector<detail::FeedInfo> feeds, detail::Forward forward) override;
  void finish() override;

 private:
  /// The feeds of one call, shared with the towers that compute them.
  struct Work {
    std::vector<detail::FeedInfo> feeds;
    detail::Compute compute;
    AsyncParameters::UpdateNumber update;
  };
  /// An update that was made, or left out because it was not finite.
  struct Done {
    int tower;
    Evaluation scores;
    AsyncParameters::Outcome outcome;
  };
  class Stay;

  std::size_t size() const { return static_cast<std::size_t>(towers_.size()); }
  void hand_out(const std::shared_ptr<const Work>& work);
  int free_tower();
  void compute(const Work& work, std::size_t group, TowerJob& job);
  Evaluation scored(const Work& work, std::size_t group, const TowerPass& pass) const;
  void report_non_finite(const Work& work, std::size_t group, const TowerPass& pass) const;
  std::vector<Done> take_done();
  StepResult result_of(const Work& work, double weight, const std::vector<Done>& all) const;
  void drop();
  void recover();

  // Constant after construction.
  SyncStepBase& step_;
  TowerGroup& towers_;

  AsyncParameters parameters_;
  bool has_run_ = false;  // since `finish`; coordinating thread only

  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::deque<int> free_;
  std::vector<Done> done_;  // not reported yet
  bool failed_ = false;     // a tower threw, and nobody has asked for its error yet
};

/// A tower's time with its work: whatever happens, the tower is free afterwards.
class AsyncSchedule::Stay {
 public:
  Stay(AsyncSchedule& schedule, int number) : schedule_(schedule), number_(number) {}
  Stay(const Stay&) = delete;
  Stay& operator=(const Stay&) = delete;

  ~Stay() {
    const bool failed = std::uncaught_exceptions() > exceptions_;
    schedule_.parameters_.leave(number_);
    if (failed) schedule_.parameters_.stop();  // nobody waits for this tower
    {
      const std::lock_guard lock(schedule_.mutex_);
      if (failed) {
        schedule_.failed_ = true;
        schedule_.free_.push_front(number_);  // the coordinator learns of it next
      } else {
        schedule_.free_.push_back(number_);
      }
    }
    schedule_.changed_.notify_all();
  }

 private:
  AsyncSchedule& schedule_;
  const int number_;
  const int exceptions_ = std::uncaught_exceptions();
};

StepResult AsyncSchedule::run(std::vector<detail::FeedInfo> feeds, detail::Forward forward) {
  const double weight = step_.weight_of(feeds);
  const std::int64_t number = step_.count_;
  const auto work =
      std::make_shared<const Work>(Work{std::move(feeds),
                                        step_.one_by_one(std::move(forward)),
                                        {number, step_.updater_->learning_rate(number)}});
  try {
    has_run_ = true;
    hand_out(work);
    const StepResult result = result_of(*work, weight, take_done());
    ++step_.count_;
    return result;
  } catch (...) {
    recover();
    throw;
  }
}

void AsyncSchedule::hand_out(const std::shared_ptr<const Work>& work) {
  for (std::size_t group = 0; group < std::min(size(), work->feeds.size()); ++group) {
    towers_.start(free_tower(),
                  {.name = "forward",
                   .step = work->update.step,
                   .fresh_randomness = true,
                   .stream = static_cast<int>(group)},
                  [this, work, group](TowerJob& job) { compute(*work, group, job); });
  }
}

int AsyncSchedule::free_tower() {
  std::unique_lock lock(mutex_);
  const auto timeout = towers_.options().timeout;
  if (!changed_.wait_for(lock, timeout, [this] { return !free_.empty(); })) {
    throw DeviceError("no tower became free within " + std::to_string(timeout.count()) +
                      " ms; raise the timeout if a step is really that long");
  }
  const int next = free_.front();
  free_.pop_front();
  return next;
}

void AsyncSchedule::compute(const Work& work, std::size_t group, TowerJob& job) {
  const Stay stay(*this, job.tower);
  double weight = 0;
  for (std::size_t feed = group; feed < work.feeds.size(); feed += size())
    weight += work.feeds[feed].weight;
  if (weight == 0) return;
  parameters_.read(job.tower);
  const TowerPass pass = step_.compute_tower(work.feeds, work.compute, group, weight, job);
  Done done{job.tower, scored(work, group, pass), {}};
  if (pass.is_finite()) {
    step_.enter(job, "update");
    done.outcome = parameters_.write(job.tower, pass, work.update);
  } else {
    if (step_.options_.on_non_finite == NonFinite::stop) report_non_finite(work, group, pass);
    done.outcome.skipped = true;
  }
  if (done.outcome.dropped) return;
  if (done.outcome.skipped) step_.buffers_.restore(job.tower);
  {
    const std::lock_guard lock(mutex_);
    done_.push_back(std::move(done));
  }
  step_.enter(job, "renew");
  parameters_.renew(job.tower);
}

Evaluation AsyncSchedule::scored(const Work& work, std::size_t group, const TowerPass& pass) const {
  Evaluation scores;
  std::size_t next = 0;
  for (std::size_t feed = group; feed < work.feeds.size(); feed += size()) {
    const double weight = work.feeds[feed].weight;
    if (weight == 0) continue;
    scores.add(
        {.loss = pass.scores[next].loss, .metrics = pass.scores[next].metrics, .weight = weight});
    ++next;
  }
  return scores;
}

void AsyncSchedule::report_non_finite(const Work& work, std::size_t group,
                                      const TowerPass& pass) const {
  const auto loss = non_finite_loss(pass, work.feeds, group, size());
  throw DataError(loss.value_or(
      "the norm of the gradient is not finite; nothing was updated; lower the learning rate or "
      "clip gradients"));
}

/// What was done since the last call: at least one update.
std::vector<AsyncSchedule::Done> AsyncSchedule::take_done() {
  std::unique_lock lock(mutex_);
  const auto timeout = towers_.options().timeout;
  if (!changed_.wait_for(lock, timeout, [this] { return !done_.empty() || failed_; })) {
    throw DeviceError("no tower made an update within " + std::to_string(timeout.count()) +
                      " ms; raise the timeout if a step is really that long");
  }
  if (failed_) {
    lock.unlock();
    for (int number = 0; number < towers_.size(); ++number) towers_.finish(number);  // one throws
  }
  return std::exchange(done_, {});
}

StepResult AsyncSchedule::result_of(const Work& work, double weight,
                                    const std::vector<Done>& all) const {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  StepResult result{
      .step = work.update.step, .weight = weight, .learning_rate = work.update.learning_rate};
  Evaluation sum;
  std::vector<Evaluation> towers(size());
  std::vector<double> updates(size());
  result.staleness.assign(size(), 0);
  double norms = 0;
  for (const auto& [tower, scores, outcome] : all) {
    const auto index = static_cast<std::size_t>(tower);
    sum.add(scores);
    towers[index].add(scores);
    updates[index] += 1;
    result.staleness[index] += static_cast<double>(outcome.staleness);
    result.skipped |= outcome.skipped;
    norms += outcome.grad_norm.value_or(0);
  }
  result.loss = sum.loss;
  result.metrics = sum.metrics;
  if (!all.empty() && all.front().outcome.grad_norm)
    result.grad_norm = norms / static_cast<double>(all.size());
  for (std::size_t i = 0; i < size(); ++i) {
    result.tower_losses.push_back(updates[i] > 0 ? towers[i].loss : kNone);
    result.staleness[i] = updates[i] > 0 ? result.staleness[i] / updates[i] : kNone;
  }
  return result;
}

void AsyncSchedule::finish() {
  if (!has_run_) return;
  try {
    for (int number = 0; number < towers_.size(); ++number) towers_.finish(number);
  } catch (...) {
    recover();
    throw;
  }
  towers_.run({.name = "renew", .step = step_.count_}, [this](TowerJob& job) {
    towers_.renew_parameters(job.tower);
    step_.buffers_.note_changes(job.tower);
  });
  parameters_.forget_copies();  // what follows may load others
  std::vector<double> weights = parameters_.take_weights();
  double total = 0;
  for (const double weight : weights) total += weight;
  for (double& weight : weights) weight /= total;
  if (total > 0) step_.buffers_.combine(weights);
  has_run_ = false;
}

/// Ends what is under way without its updates.
void AsyncSchedule::drop() {
  parameters_.stop();
  for (int number = 0; number < towers_.size(); ++number) {
    try {
      if (towers_.usable()) towers_.finish(number);
    } catch (const std::exception&) {  // the first failure is the one that is reported
    }
  }
}

/// After a failure: the next call begins anew.
void AsyncSchedule::recover() {
  drop();
  if (!towers_.usable()) return;
  parameters_.restart();
  parameters_.forget_copies();
  step_.abandon();
  const std::lock_guard lock(mutex_);
  failed_ = false;
  done_.clear();
  free_.clear();
  for (int number = 0; number < towers_.size(); ++number) free_.push_back(number);
}

namespace detail {

std::unique_ptr<AsyncRunner> make_async_runner(SyncStepBase& step, TowerGroup& towers,
                                               const AsyncOptions& options) {
  if (options.max_staleness && *options.max_staleness < 0) {
    throw UsageError("the largest staleness is " + std::to_string(*options.max_staleness) +
                     "; give 0 for the synchronous step, or more");
  }
  if (options.max_staleness == 0) return nullptr;
  if (towers.placement() != Placement::host) {
    throw UsageError(std::string("asynchronous towers update one master copy on the host; ") +
                     placement_name(towers.placement()) + " parameters have none: place them host");
  }
  return std::make_unique<AsyncSchedule>(step, towers, options.max_staleness);
}

}  // namespace detail
}  // namespace pagoda
