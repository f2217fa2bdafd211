#pragma once

#include <pagoda/optim/updater.h>
#include <pagoda/reduce/buffers.h>
#include <pagoda/reduce/combine.h>
#include <pagoda/reduce/gradient_norm.h>
#include <pagoda/tower/towers.h>
#include <pagoda/train/scored.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace torch::optim {
class Optimizer;
}

namespace pagoda {

/// What happens when a tower's loss is nan or infinite.
enum class NonFinite {
  stop,  ///< DataError with the tower, the step and the samples; nothing is updated
  skip,  ///< the step is left out on all towers and counted in the result
};

struct SyncStepOptions {
  /// Clips the norm of each tower's gradient before they are combined; unset does not.
  std::optional<double> max_tower_grad_norm = std::nullopt;
  /// Clips the norm of the combined gradient; unset does not.
  std::optional<double> max_grad_norm = std::nullopt;
  /// As if l2/2 times the parameters' sum of squares stood in the loss (not in the reported loss).
  double l2 = 0;
  DecayScope decay_scope = DecayScope::all;  ///< what `l2` and AdamW's weight decay apply to
  std::optional<MovingAverage> moving_average =
      std::nullopt;                   ///< of the parameters, kept beside them
  RowUpdate rows = RowUpdate::exact;  ///< for row-sparse gradients
  BufferRule buffers = BufferRule::mean;
  NonFinite on_non_finite = NonFinite::stop;
  /// Reports the norm of the combined gradient even without clipping, for one more pass over it.
  bool measure_grad_norm = false;
  /// With a torch::optim::Optimizer: the rate to write into its groups before each step.
  std::optional<LearningRate> learning_rate = std::nullopt;
  /// Called in the tower's thread at the start of each of its phases: "feed", "forward",
  /// "backward", "collect", "combine", "update", "renew". For tracing and fault injection; may
  /// throw.
  std::function<void(const TowerJob&)> on_phase = nullptr;
};

struct StepResult {
  std::int64_t step = 0;  ///< its number, from 0
  double loss = 0;        ///< mean over all feeds, weighted
  std::vector<double> tower_losses =
      {};  ///< the same for each tower; nan for a tower that had no feed
  std::vector<std::pair<std::string, double>> metrics =
      {};             ///< weighted means of what the loss function gave
  double weight = 0;  ///< of all feeds together: the number of samples
  double learning_rate = 0;
  std::optional<double> grad_norm =
      std::nullopt;      ///< of the combined gradient before its clip, where measured
  bool skipped = false;  ///< a loss was not finite and nothing was updated
  /// Asynchronous steps only, by tower: the mean number of updates between its read of the
  /// parameters and its own update; nan for a tower that made none.
  std::vector<double> staleness = {};
};

namespace detail {

/// What a step knows about a feed before it is computed.
struct FeedInfo {
  double weight;
  std::vector<std::int64_t> samples;
};

/// A feed, and how much it counts in the whole batch: what its backward starts from.
struct FeedShare {
  std::size_t feed;
  double share;
};

/// Computes these feeds forward and backward on the job's tower.
using Compute =
    std::function<std::vector<FeedScore>(const std::vector<FeedShare>& feeds, TowerJob& job)>;

/// Computes feed `feed` on the job's tower up to its loss.
using Forward = std::function<Scored(std::size_t feed, TowerJob& job)>;

}  // namespace detail

class CardSum;
struct TowerPass;

/// One synchronous step, without the type of the model; see SyncStep.
class SyncStepBase {
 public:
  virtual ~SyncStepBase();
  SyncStepBase(const SyncStepBase&) = delete;
  SyncStepBase& operator=(const SyncStepBase&) = delete;

  /// Steps done so far, skipped ones included. Set it after loading a checkpoint.
  std::int64_t count() const { return count_; }
  void set_count(std::int64_t count) { count_ = count; }

  /// What the learning rate of the optimizer's schedule is multiplied by from the next step on. An
  /// optimizer of LibTorch follows only where SyncStepOptions::learning_rate is set.
  /// Fails: UsageError for a factor that is negative or not finite.
  double rate_factor() const { return rate_factor_; }
  void set_rate_factor(double factor);

  /// The optimizer's state and the moving average, for checkpoints and evaluation.
  Updater& updater() { return *updater_; }

  /// Waits for what is still under way, so that all towers are equal: before parameters, buffers or
  /// state are read or written from outside. Evaluation with averaged parameters and checkpoints do
  /// it themselves. Nothing to do after a synchronous step.
  virtual void finish() {}

  /// Spreads what was loaded into the master parameters and into tower 0's buffers to all towers.
  void refresh_towers();

 protected:
  SyncStepBase(TowerGroup& towers, const OptimizerOptions& optimizer,
               const SyncStepOptions& options);
  SyncStepBase(TowerGroup& towers, torch::optim::Optimizer& optimizer,
               const SyncStepOptions& options);

  using FeedInfo = detail::FeedInfo;
  using FeedShare = detail::FeedShare;
  using Compute = detail::Compute;
  using Forward = detail::Forward;

  /// A step in which every tower computes all its feeds at once.
  StepResult run_towers(std::vector<FeedInfo> feeds, Compute compute);
  /// The same, one feed after the other.
  virtual StepResult run_feeds(std::vector<FeedInfo> feeds, Forward forward);
  void enter(TowerJob& job, const char* phase) const;

  /// Runs the tower's part of work(share, shares) that all towers divide among them.
  virtual void run_shares(const TowerJob& job,
                          const std::function<void(int share, int shares)>& work);

 private:
  friend class AsyncParameters;
  friend class AsyncSchedule;
  struct Work;

  SyncStepBase(TowerGroup& towers, std::unique_ptr<Updater> updater,
               const SyncStepOptions& options);
  double weight_of(const std::vector<FeedInfo>& feeds) const;
  Compute one_by_one(Forward forward) const;
  TowerPass compute_tower(const std::vector<FeedInfo>& feeds, const Compute& compute,
                          std::size_t first, double total_weight, TowerJob& job);
  StepResult summarise(const Work& work) const;
  void report_non_finite(const Work& work) const;
  void update(const std::shared_ptr<Work>& work, StepResult& result);
  double gradient_norm(const std::shared_ptr<Work>& work);
  void guarded(const TowerGroup::Phase& phase, std::function<void(TowerJob&)> work);
  void abandon();

  // Constant after construction.
  TowerGroup& towers_;
  const SyncStepOptions options_;
  std::vector<double> l2_;  // by parameter

  // Shared by the phases of a step.
  std::unique_ptr<Updater> updater_;
  std::unique_ptr<CardSum> card_sum_;  // where cards sum gradients among themselves
  GradientCollector gradients_;
  BufferCombiner buffers_;
  GradientNorm norm_;
  std::vector<GradientNorm> tower_norms_;
  std::int64_t count_ = 0;
  double rate_factor_ = 1;
};

/// Every tower computes forward and backward on its own feeds; then the gradients are combined and
/// the parameters updated, once.
///
/// N towers with B samples each compute what one tower computes with N·B samples: feeds count by
/// their weight, and the sum is taken in tower order. Feed f goes to tower f mod N, so that more
/// feeds than towers accumulate gradients, and fewer leave some towers without work. A step is a
/// function of the parameters, the feeds, the seed and its number: repeating it gives the same
/// bits.
///
/// Threads: the coordinating thread of the towers.
/// Owns: the optimizer's state and the moving average. Borrows the towers, which must outlive it.
/// Fails: TowerError when something throws on a tower. Until the phase "update" nothing has changed
/// and the step can be tried again; after a failure in it the parameters are part new, part old:
/// load a checkpoint. DeviceError when a tower is late; it may then still call the loss function.
///
/// Example:
///     SyncStep step(towers, Adam{.learning_rate = 1e-3}, {.max_grad_norm = 5.0});
///     auto result = step.run(feeds, [](LeNet5& model, const Batch& batch) {
///       return torch::nn::functional::cross_entropy(model(batch.input), batch.target);
///     });
template <class Model>
class SyncStep : public SyncStepBase {
 public:
  /// With a built-in optimizer.
  SyncStep(Towers<Model>& towers, const OptimizerOptions& optimizer,
           const SyncStepOptions& options = {})
      : SyncStepBase(towers, optimizer, options), towers_(towers) {}

  /// With an optimizer of the user's, built from `towers.parameters()`; it must outlive the step.
  SyncStep(Towers<Model>& towers, torch::optim::Optimizer& optimizer,
           const SyncStepOptions& options = {})
      : SyncStepBase(towers, optimizer, options), towers_(towers) {}

  /// `loss(model, feed)` returns the feed's mean loss as a tensor, or a Scored with further
  /// metrics. It is called by all towers at once.
  template <Feed F, class Loss>
  StepResult run(const std::vector<F>& feeds, Loss loss) {
    std::vector<FeedInfo> infos;
    for (const auto& feed : feeds) infos.push_back({feed.weight(), feed.sample_numbers()});
    // By value: a tower that is late outlives this call.
    return run_feeds(
        std::move(infos), [this, feeds, loss](std::size_t index, TowerJob& job) mutable {
          enter(job, "feed");
          const F feed = feeds[index].with_tensors(
              [&](const at::Tensor& tensor) { return towers_.on_tower(tensor, job.tower); });
          enter(job, "forward");
          return detail::as_scored(loss(towers_.model(job.tower), feed));
        });
  }

 private:
  Towers<Model>& towers_;
};

}  // namespace pagoda
