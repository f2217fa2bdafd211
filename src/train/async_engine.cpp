#include <pagoda/base/error.h>
#include <pagoda/train/async_step.h>
#include <pagoda/train/evaluate.h>
#include <pagoda/train/sync_step.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <string>
#include <utility>

#include <ATen/record_function.h>

#include "reduce/host_exchange.h"
#include "tower/parameter_copies.h"
#include "tower/replica_use.h"
#include "train/async_board.h"
#include "train/async_parameters.h"
#include "train/step_engine.h"
#include "train/tower_pass.h"

namespace pagoda {
namespace {

/// What towers and coordinating thread share for as long as any of them runs.
struct AsyncShared {
  AsyncShared(std::shared_ptr<StepParts> step_parts, HostExchange& exchange,
              std::optional<std::int64_t> max_staleness)
      : parts(std::move(step_parts)),
        parameters(parts, exchange, max_staleness),
        board(parts->replicas->size()) {}

  const std::shared_ptr<StepParts> parts;
  AsyncParameters parameters;
  AsyncBoard board;
};

/// The feeds of one call, shared with the towers that compute them.
struct AsyncWork {
  std::vector<detail::FeedInfo> feeds;
  detail::Compute compute;
  AsyncParameters::UpdateNumber update;
};

/// A tower's time with its work: whatever happens, the tower is free afterwards.
class Stay {
 public:
  Stay(AsyncShared& shared, int tower) : shared_(shared), tower_(tower) {}
  Stay(const Stay&) = delete;
  Stay& operator=(const Stay&) = delete;

  ~Stay() {
    const bool failed = std::uncaught_exceptions() > exceptions_;
    shared_.parameters.leave(tower_);
    if (failed) shared_.parameters.stop();  // nobody waits for this tower
    shared_.board.give_back(tower_, failed);
  }

 private:
  AsyncShared& shared_;
  const int tower_;
  const int exceptions_ = std::uncaught_exceptions();
};

/// Takes the tower's buffers back to what they are now if its pass fails.
class BufferGuard {
 public:
  BufferGuard(BufferCombiner& buffers, int tower) : buffers_(buffers), tower_(tower) {
    buffers_.remember(tower_);
  }
  BufferGuard(const BufferGuard&) = delete;
  BufferGuard& operator=(const BufferGuard&) = delete;
  ~BufferGuard() {
    if (is_settled_) return;
    try {
      buffers_.undo(tower_);
    } catch (...) {
      // On a card that has been lost; what it failed with is on its way to the caller.
    }
  }
  /// Keeps them as they have become, or takes them back: whether the pass is an update.
  void settle(bool is_update) {
    is_settled_ = true;
    if (!is_update) buffers_.undo(tower_);
  }

 private:
  BufferCombiner& buffers_;
  const int tower_;
  bool is_settled_ = false;
};

double group_weight(const AsyncWork& work, int group, int towers) {
  double weight = 0;
  for (const std::size_t feed : feeds_of(group, towers, work.feeds.size()))
    weight += work.feeds[feed].weight;
  return weight;
}

Evaluation scores_of(const AsyncWork& work, const TowerPass& pass) {
  Evaluation scores;
  for (std::size_t i = 0; i < pass.feeds.size(); ++i) {
    scores.add({.loss = pass.scores[i].loss,
                .metrics = pass.scores[i].metrics,
                .weight = work.feeds[pass.feeds[i]].weight});
  }
  return scores;
}

/// One group of feeds on the job's tower, from reading the parameters to renewing its copy.
void compute_group(AsyncShared& shared, const AsyncWork& work, int group, TowerJob& job) {
  const Stay stay(shared, job.tower);
  StepParts& parts = *shared.parts;
  const double weight = group_weight(work, group, parts.replicas->size());
  if (weight == 0) return;
  shared.parameters.read(job.tower);
  BufferGuard buffers(parts.buffers, job.tower);
  const TowerPass pass = compute_tower(parts, work.feeds, work.compute, group, weight, job);
  AsyncBoard::Done done{job.tower, scores_of(work, pass), {}};
  if (const NotFinite found = pass.not_finite(); found == NotFinite::nothing) {
    job.enter("update");
    RECORD_USER_SCOPE("update");
    done.outcome = shared.parameters.write(job.tower, pass, work.update);
  } else {
    done.outcome = {.skipped = true, .overflowed = parts.note_overflow(found, pass.scale)};
    if (!done.outcome.overflowed && parts.options.on_non_finite == NonFinite::stop)
      throw DataError(non_finite_text(pass, work.feeds));
  }
  buffers.settle(!done.outcome.dropped && !done.outcome.skipped);
  if (done.outcome.dropped) return;
  shared.board.add(std::move(done));
  job.enter("renew");
  RECORD_USER_SCOPE("renew");
  shared.parameters.renew(job.tower);
}

/// Hands feeds to free towers and collects what they report; see AsyncStep.
class AsyncEngine final : public StepEngine {
 public:
  AsyncEngine(TowerGroup& towers, const std::shared_ptr<StepParts>& parts, HostExchange& exchange,
              std::optional<std::int64_t> max_staleness)
      : StepEngine(towers, parts),
        shared_(std::make_shared<AsyncShared>(parts, exchange, max_staleness)) {}
  ~AsyncEngine() override {
    drop();
    leave();
  }

  StepResult run(std::vector<detail::FeedInfo> feeds, detail::Compute compute) override;
  void finish() override;

 private:
  void hand_out(const std::shared_ptr<const AsyncWork>& work);
  std::vector<AsyncBoard::Done> take_done();
  StepResult result_of(const AsyncWork& work, double weight,
                       const std::vector<AsyncBoard::Done>& all) const;
  void finish_towers();
  void leave();
  void drop();
  void recover();

  const std::shared_ptr<AsyncShared> shared_;
  bool has_run_ = false;  // since `finish`
};

StepResult AsyncEngine::run(std::vector<detail::FeedInfo> feeds, detail::Compute compute) {
  const double weight = parts()->weight_of(feeds);
  const auto work = std::make_shared<const AsyncWork>(
      AsyncWork{std::move(feeds),
                std::move(compute),
                {.step = parts()->count, .learning_rate = parts()->learning_rate()}});
  try {
    if (!has_run_) parts()->buffers.begin();
    has_run_ = true;
    parts()->replicas->use().at_work = this;
    hand_out(work);
    const StepResult result = result_of(*work, weight, take_done());
    ++parts()->count;
    return result;
  } catch (...) {
    recover();
    throw;
  }
}

void AsyncEngine::hand_out(const std::shared_ptr<const AsyncWork>& work) {
  const int groups =
      static_cast<int>(std::min(static_cast<std::size_t>(towers().size()), work->feeds.size()));
  for (int group = 0; group < groups; ++group) {
    const int tower = shared_->board.take_tower(towers().options().timeout);
    towers().start(tower,
                   {.name = "forward",
                    .step = work->update.step,
                    .fresh_randomness = true,
                    .stream = group,
                    .watch = &parts()->options.on_phase,
                    .block = kComputeBlock},
                   [shared = shared_, work, group](TowerJob& job) {
                     compute_group(*shared, *work, group, job);
                   });
  }
}

/// What was done since the last call: at least one update.
std::vector<AsyncBoard::Done> AsyncEngine::take_done() {
  auto done = shared_->board.take_done(towers().options().timeout);
  if (shared_->board.failed()) finish_towers();  // one throws
  return done;
}

StepResult AsyncEngine::result_of(const AsyncWork& work, double weight,
                                  const std::vector<AsyncBoard::Done>& all) const {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  const auto size = static_cast<std::size_t>(towers().size());
  StepResult result{
      .step = work.update.step, .weight = weight, .learning_rate = work.update.learning_rate};
  if (parts()->loss_scaler) result.loss_scale = parts()->scale();
  Evaluation sum;
  std::vector<Evaluation> by_tower(size);
  std::vector<double> updates(size);
  result.staleness.assign(size, 0);
  double norms = 0;
  for (const auto& [tower, scores, outcome] : all) {
    const auto index = static_cast<std::size_t>(tower);
    sum.add(scores);
    by_tower[index].add(scores);
    updates[index] += 1;
    result.staleness[index] += static_cast<double>(outcome.staleness);
    result.skipped |= outcome.skipped;
    result.overflows += outcome.overflowed ? 1 : 0;
    norms += outcome.grad_norm.value_or(0);
  }
  result.loss = sum.loss;
  result.metrics = sum.metrics;
  if (!all.empty() && all.front().outcome.grad_norm)
    result.grad_norm = norms / static_cast<double>(all.size());
  for (std::size_t i = 0; i < size; ++i) {
    result.tower_losses.push_back(updates[i] > 0 ? by_tower[i].loss : kNone);
    result.staleness[i] = updates[i] > 0 ? result.staleness[i] / updates[i] : kNone;
  }
  return result;
}

void AsyncEngine::finish_towers() {
  for (int tower = 0; tower < towers().size(); ++tower) towers().finish(tower);
}

void AsyncEngine::finish() {
  if (!has_run_) return;
  try {
    finish_towers();
  } catch (...) {
    recover();
    throw;
  }
  towers().run({.name = "renew", .step = parts()->count}, [parts = parts()](TowerJob& job) {
    parts->replicas->copies().renew(job.tower);
    parts->buffers.note_changes(job.tower);
  });
  shared_->parameters.forget_copies();  // what follows may load others
  std::vector<double> weights = shared_->parameters.take_weights();
  double total = 0;
  for (const double weight : weights) total += weight;
  for (double& weight : weights) weight /= total;
  if (total > 0) parts()->buffers.combine(weights);
  has_run_ = false;
  leave();
}

/// Other steps may use the towers.
void AsyncEngine::leave() {
  const void*& at_work = parts()->replicas->use().at_work;
  if (at_work == this) at_work = nullptr;
}

/// Ends what is under way without its updates.
void AsyncEngine::drop() {
  shared_->parameters.stop();
  for (int tower = 0; tower < towers().size(); ++tower) {
    try {
      if (towers().usable()) towers().finish(tower);
    } catch (const std::exception&) {  // the first failure is the one that is reported
    }
  }
}

/// After a failure: the next call begins anew.
void AsyncEngine::recover() {
  drop();
  if (!towers().usable()) return;
  shared_->parameters.restart();
  shared_->parameters.forget_copies();
  parts()->exchange->discard();  // each tower has taken back what its own pass did to its buffers
  shared_->board.clear(towers().size());
}

}  // namespace

namespace detail {

std::shared_ptr<StepEngine> make_async_engine(TowerGroup& towers, const AnyOptimizer& optimizer,
                                              const StepOptions& options,
                                              const AsyncOptions& async) {
  if (async.max_staleness && *async.max_staleness < 0) {
    throw UsageError("the largest staleness is " + std::to_string(*async.max_staleness) +
                     "; it must be at least 0, which is the synchronous step");
  }
  if (async.max_staleness == 0) return make_sync_engine(towers, optimizer, options);
  if (options.world) {
    throw UsageError(
        "asynchronous updates are of one process; several processes need synchronous ones");
  }
  const auto& replicas = towers.replicas();
  if (replicas->placement() != ParameterPlacement::host) {
    throw UsageError(std::string("asynchronous towers update one master copy on the host; ") +
                     placement_name(replicas->placement()) +
                     " parameters have none: place them host");
  }
  if (replicas->batch_norm()) {
    throw UsageError(
        "asynchronous towers do not wait for each other, which BatchNorm over all towers has to; "
        "switch TowerOptions::sync_batch_norm off, or step synchronously");
  }
  auto exchange = std::make_unique<HostExchange>(replicas, options.max_tower_grad_norm);
  HostExchange& own = *exchange;
  return std::make_shared<AsyncEngine>(
      towers,
      std::make_shared<StepParts>(replicas, make_updater(towers, optimizer, options),
                                  std::move(exchange), options),
      own, async.max_staleness);
}

}  // namespace detail
}  // namespace pagoda
