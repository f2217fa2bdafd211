#include <pagoda/base/error.h>
#include <pagoda/train/sync_step.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <ATen/ops/full_like.h>

#include "optim/fused_updater.h"
#include "optim/part_updater.h"
#include "optim/torch_updater.h"
#include "reduce/card_norm.h"
#include "reduce/card_sum.h"
#include "train/sync_work.h"

namespace pagoda {
namespace {

UpdateOptions update_options(const SyncStepOptions& options) {
  return {.l2 = options.l2,
          .decay_scope = options.decay_scope,
          .moving_average = options.moving_average,
          .rows = options.rows};
}

/// Where the towers update, each builds its own part in its thread: the state is in its memory.
std::unique_ptr<Updater> make_updater(TowerGroup& towers, const OptimizerOptions& optimizer,
                                      const UpdateOptions& options) {
  if (!towers.towers_update())
    return make_fused_updater(towers.master().trainable, optimizer, options);
  check(optimizer);
  check(options);
  const bool spread = towers.placement() == Placement::spread;
  std::vector<std::unique_ptr<PartUpdater>> parts(static_cast<std::size_t>(towers.size()));
  towers.run({.name = "construction"}, [&](TowerJob& job) {
    const UpdatePart part = spread ? UpdatePart{job.tower, towers.size()} : UpdatePart{};
    parts[static_cast<std::size_t>(job.tower)] =
        make_part_updater(towers.table(job.tower).trainable, optimizer, options, part);
  });
  return join_updaters(std::move(parts), spread ? Joined::parts : Joined::copies);
}

const std::vector<NamedTensor>& updated_by_torch(const TowerGroup& towers) {
  if (towers.towers_update()) {
    throw UsageError(std::string("a torch::optim::Optimizer updates one copy of the parameters; ") +
                     placement_name(towers.placement()) +
                     " ones have several: place them shared or host, or use a built-in optimizer");
  }
  return towers.master().trainable;
}

/// Cards that update sum their gradients among themselves where they can.
std::unique_ptr<CardSum> make_card_sum(const TowerGroup& towers) {
  if (!towers.towers_update()) return nullptr;
  auto link = make_card_link(towers);
  return link ? std::make_unique<CardSum>(towers, std::move(link)) : nullptr;
}

/// The norm of a tower's own gradient, and what clipping leaves of it.
void note_norm(TowerPass& pass, double norm, double max_norm) {
  pass.grad_norm = norm;
  pass.clip = clip_factor(norm, max_norm);
}

void check_clip(const std::optional<double>& max_norm, const char* what) {
  if (max_norm && !(std::isfinite(*max_norm) && *max_norm > 0)) {
    throw UsageError(std::string(what) + " is " + std::to_string(*max_norm) +
                     "; it must be above 0");
  }
}

}  // namespace

SyncStepBase::SyncStepBase(TowerGroup& towers, const OptimizerOptions& optimizer,
                           const SyncStepOptions& options)
    : SyncStepBase(towers, make_updater(towers, optimizer, update_options(options)), options) {
  if (options.learning_rate) {
    throw UsageError(
        "SyncStepOptions::learning_rate is for a torch::optim::Optimizer; the built-in "
        "optimizers have a learning_rate of their own");
  }
}

SyncStepBase::SyncStepBase(TowerGroup& towers, torch::optim::Optimizer& optimizer,
                           const SyncStepOptions& options)
    : SyncStepBase(towers,
                   make_torch_updater(updated_by_torch(towers), optimizer, update_options(options),
                                      options.learning_rate),
                   options) {}

SyncStepBase::SyncStepBase(TowerGroup& towers, std::unique_ptr<Updater> updater,
                           const SyncStepOptions& options)
    : towers_(towers),
      options_(options),
      updater_(std::move(updater)),
      card_sum_(make_card_sum(towers)),
      gradients_(towers, card_sum_ ? GradientCollector::Gradients::summed_on_cards
                                   : GradientCollector::Gradients::own),
      buffers_(towers, options.buffers),
      norm_(towers.master().trainable) {
  check_clip(options.max_tower_grad_norm, "the largest norm of a tower's gradient");
  check_clip(options.max_grad_norm, "the largest norm of the gradient");
  for (const auto& entry : towers.master().trainable) {
    l2_.push_back(decays(options.decay_scope, entry.tensor) ? options.l2 : 0);
  }
  if (options.max_tower_grad_norm && !card_sum_) {
    tower_norms_.assign(static_cast<std::size_t>(towers.size()),
                        GradientNorm(towers.master().trainable));
  }
}

SyncStepBase::~SyncStepBase() { towers_.settle(); }

void SyncStepBase::set_rate_factor(double factor) {
  if (!(std::isfinite(factor) && factor >= 0)) {
    throw UsageError("a learning rate cannot be multiplied by " + std::to_string(factor) +
                     "; the factor must be at least 0");
  }
  rate_factor_ = factor;
}

void SyncStepBase::enter(TowerJob& job, const char* phase) const {
  job.phase = phase;
  if (options_.on_phase) options_.on_phase(job);
}

void SyncStepBase::refresh_towers() {
  towers_.run({.name = "renew", .step = count_},
              [this](TowerJob& job) { towers_.renew_parameters(job.tower); });
  buffers_.adopt_first();
}

double SyncStepBase::weight_of(const std::vector<FeedInfo>& feeds) const {
  double total_weight = 0;
  for (const auto& feed : feeds) total_weight += feed.weight;
  if (!(total_weight > 0)) {
    throw UsageError("step " + std::to_string(count_) + " got " + std::to_string(feeds.size()) +
                     " feeds without a single sample; leave such a step out");
  }
  return total_weight;
}

StepResult SyncStepBase::run_feeds(std::vector<FeedInfo> feeds, Forward forward) {
  return run_towers(std::move(feeds), one_by_one(std::move(forward)));
}

/// Forward and backward of one feed after the other.
detail::Compute SyncStepBase::one_by_one(Forward forward) const {
  return [this, forward = std::move(forward)](const std::vector<FeedShare>& feeds, TowerJob& job) {
    std::vector<FeedScore> scores;
    for (const auto& [feed, share] : feeds) {
      const Scored scored = forward(feed, job);
      check_loss(scored);
      enter(job, "backward");
      // A gradient that is to be clipped cannot leave before all of it is there.
      if (card_sum_ && !options_.max_tower_grad_norm && feed == feeds.back().feed)
        card_sum_->begin(job.tower);
      if (scored.loss.requires_grad()) scored.loss.backward(at::full_like(scored.loss, share));
      scores.push_back(numbers_of(scored));
    }
    return scores;
  };
}

void SyncStepBase::run_shares(const TowerJob& job,
                              const std::function<void(int share, int shares)>& work) {
  work(job.tower, towers_.size());
}

StepResult SyncStepBase::run_towers(std::vector<FeedInfo> feeds, Compute compute) {
  const double total_weight = weight_of(feeds);
  const std::vector<TowerPass> passes(static_cast<std::size_t>(towers_.size()));
  const auto work =
      std::make_shared<Work>(Work{std::move(feeds), total_weight, std::move(compute), passes});
  try {
    guarded({.name = "forward", .step = count_, .fresh_randomness = true},
            [this, work](TowerJob& job) {
              const auto tower = static_cast<std::size_t>(job.tower);
              work->passes[tower] =
                  compute_tower(work->feeds, work->compute, tower, work->total_weight, job);
            });
    StepResult result = summarise(*work);
    if (work->is_finite()) update(work, result);
    if (!work->is_finite() || !std::isfinite(result.grad_norm.value_or(0))) {
      if (options_.on_non_finite == NonFinite::stop) report_non_finite(*work);
      abandon();
      result.skipped = true;
    }
    ++count_;
    return result;
  } catch (...) {
    if (towers_.usable()) {
      abandon();
    } else if (card_sum_) {
      card_sum_->abort();  // the others wait for the late one's gradients
    }
    throw;
  }
}

/// Runs the phase; a tower that fails in it lets those go that would wait for its gradients.
void SyncStepBase::guarded(const TowerGroup::Phase& phase, std::function<void(TowerJob&)> work) {
  if (!card_sum_) return towers_.run(phase, work);
  towers_.run(phase, [this, work = std::move(work)](TowerJob& job) {
    try {
      work(job);
    } catch (...) {
      card_sum_->abort();
      throw;
    }
  });
}

/// Forward and backward of feeds first, first + N, … on the job's tower; its gradients are then
/// collected.
TowerPass SyncStepBase::compute_tower(const std::vector<FeedInfo>& feeds, const Compute& compute,
                                      std::size_t first, double total_weight, TowerJob& job) {
  TowerPass pass;
  gradients_.release(job.tower);
  std::vector<FeedShare> own;
  for (std::size_t feed = first; feed < feeds.size();
       feed += static_cast<std::size_t>(towers_.size())) {
    if (feeds[feed].weight == 0) continue;
    // The feed's share of the whole batch goes into its backward, so that combining is a plain sum.
    own.push_back({feed, feeds[feed].weight / total_weight});
    pass.weight += feeds[feed].weight;
  }
  if (!own.empty()) pass.scores = compute(own, job);
  enter(job, "collect");
  const bool clips = options_.max_tower_grad_norm && pass.weight > 0;
  // Where cards sum, only the sum is left afterwards.
  if (clips && card_sum_) {
    const auto& parameters = towers_.table(job.tower).trainable;
    note_norm(pass, own_gradient_norm(parameters, total_weight / pass.weight, l2_),
              *options_.max_tower_grad_norm);
    scale_gradients(parameters, pass.clip);
  }
  if (card_sum_) card_sum_->end(job.tower);
  gradients_.collect(job.tower);
  buffers_.note_changes(job.tower);
  if (clips && !card_sum_) {
    GradientNorm& norm = tower_norms_[static_cast<std::size_t>(job.tower)];
    norm.run_share(gradients_.view({total_weight / pass.weight}, {job.tower}), l2_, 0, 1);
    note_norm(pass, norm.norm(), *options_.max_tower_grad_norm);
  }
  return pass;
}

StepResult SyncStepBase::summarise(const Work& work) const {
  const auto& feeds = work.feeds;
  const auto& passes = work.passes;
  StepResult result{.step = count_,
                    .weight = work.total_weight,
                    .learning_rate = updater_->learning_rate(count_) * rate_factor_};
  for (std::size_t tower = 0; tower < passes.size(); ++tower) {
    const TowerPass& pass = passes[tower];
    double tower_loss = 0;
    std::size_t done = 0;
    for (std::size_t feed = tower; feed < feeds.size(); feed += passes.size()) {
      const double weight = feeds[feed].weight;
      if (weight == 0) continue;
      result.loss += pass.scores[done].loss * weight / work.total_weight;
      tower_loss += pass.scores[done].loss * weight / pass.weight;
      for (std::size_t i = 0; i < pass.scores[done].metrics.size(); ++i) {
        const auto& [name, value] = pass.scores[done].metrics[i];
        if (i == result.metrics.size()) result.metrics.emplace_back(name, 0);
        result.metrics[i].second += value * weight / work.total_weight;
      }
      ++done;
    }
    result.tower_losses.push_back(done > 0 ? tower_loss : std::numeric_limits<double>::quiet_NaN());
  }
  return result;
}

void SyncStepBase::report_non_finite(const Work& work) const {
  for (int tower = 0; tower < towers_.size(); ++tower) {
    const auto index = static_cast<std::size_t>(tower);
    const auto loss = non_finite_loss(work.passes[index], work.feeds, index, work.passes.size());
    if (loss) {
      throw DataError("tower " + std::to_string(tower) + " (" + towers_.device(tower).label() +
                      "), step " + std::to_string(count_) + ": " + *loss);
    }
  }
  throw DataError("step " + std::to_string(count_) +
                  ": the norm of the gradient is not finite; nothing was "
                  "updated; lower the learning rate or clip gradients");
}

void SyncStepBase::abandon() {
  if (card_sum_) card_sum_->reset();
  gradients_.discard();
  buffers_.restore();
}

}  // namespace pagoda
