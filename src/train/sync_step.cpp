#include <pagoda/base/error.h>
#include <pagoda/optim/fused_updater.h>
#include <pagoda/optim/torch_updater.h>
#include <pagoda/train/sync_step.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <ATen/ops/full_like.h>

namespace pagoda {
namespace {

UpdateOptions update_options(const SyncStepOptions& options) {
  return {.l2 = options.l2,
          .decay_scope = options.decay_scope,
          .moving_average = options.moving_average,
          .rows = options.rows};
}

void check_clip(const std::optional<double>& max_norm, const char* what) {
  if (max_norm && !(std::isfinite(*max_norm) && *max_norm > 0)) {
    throw UsageError(std::string(what) + " is " + std::to_string(*max_norm) +
                     "; it must be above 0");
  }
}

std::string sample_list(const std::vector<std::int64_t>& samples) {
  constexpr std::size_t kShown = 8;
  std::string list;
  for (std::size_t i = 0; i < std::min(kShown, samples.size()); ++i) {
    list += (i == 0 ? "" : ", ") + std::to_string(samples[i]);
  }
  if (samples.size() > kShown) list += ", … (" + std::to_string(samples.size()) + " in all)";
  return list.empty() ? "unknown" : list;
}

}  // namespace

/// What one tower brings back from forward and backward.
struct SyncStepBase::TowerPass {
  double weight = 0;
  std::vector<double> losses;  // by feed, in the tower's order
  std::vector<std::vector<std::pair<std::string, double>>> metrics;  // likewise
  double grad_norm = 0;  // of its own gradient, where that is clipped
  double clip = 1;       // what the tower's own clipping leaves
};

/// What the towers read and write during one step; shared with them, so that one that is late finds
/// it.
struct SyncStepBase::Work {
  std::vector<FeedInfo> feeds;
  double total_weight;
  Forward forward;
  std::vector<TowerPass> passes;  // by tower
  GradientView gradients = {};
  std::vector<double> l2 = {};  // by parameter, after the towers' clipping

  bool is_finite() const {
    return std::all_of(passes.begin(), passes.end(), [](const TowerPass& pass) {
      return std::isfinite(pass.grad_norm) &&
             std::all_of(pass.losses.begin(), pass.losses.end(),
                         [](double loss) { return std::isfinite(loss); });
    });
  }
};

SyncStepBase::SyncStepBase(TowerGroup& towers, const OptimizerOptions& optimizer,
                           const SyncStepOptions& options)
    : SyncStepBase(
          towers, make_fused_updater(towers.master().trainable, optimizer, update_options(options)),
          options) {
  if (options.learning_rate) {
    throw UsageError(
        "SyncStepOptions::learning_rate is for a torch::optim::Optimizer; the built-in "
        "optimizers have a learning_rate of their own");
  }
}

SyncStepBase::SyncStepBase(TowerGroup& towers, torch::optim::Optimizer& optimizer,
                           const SyncStepOptions& options)
    : SyncStepBase(towers,
                   make_torch_updater(towers.master().trainable, optimizer, update_options(options),
                                      options.learning_rate),
                   options) {}

SyncStepBase::SyncStepBase(TowerGroup& towers, std::unique_ptr<Updater> updater,
                           const SyncStepOptions& options)
    : towers_(towers),
      options_(options),
      updater_(std::move(updater)),
      gradients_(towers),
      buffers_(towers, options.buffers),
      norm_(towers.master().trainable) {
  check_clip(options.max_tower_grad_norm, "the largest norm of a tower's gradient");
  check_clip(options.max_grad_norm, "the largest norm of the gradient");
  for (const auto& entry : towers.master().trainable) {
    l2_.push_back(decays(options.decay_scope, entry.tensor) ? options.l2 : 0);
  }
  if (options.max_tower_grad_norm) {
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

StepResult SyncStepBase::run_feeds(std::vector<FeedInfo> feeds, Forward forward) {
  double total_weight = 0;
  for (const auto& feed : feeds) total_weight += feed.weight;
  if (!(total_weight > 0)) {
    throw UsageError("step " + std::to_string(count_) + " got " + std::to_string(feeds.size()) +
                     " feeds without a single sample; leave such a step out");
  }
  const std::vector<TowerPass> passes(static_cast<std::size_t>(towers_.size()));
  const auto work =
      std::make_shared<Work>(Work{std::move(feeds), total_weight, std::move(forward), passes});
  try {
    towers_.run({.name = "forward", .step = count_, .fresh_randomness = true},
                [this, work](TowerJob& job) { run_tower(*work, job); });
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
    if (towers_.usable()) abandon();
    throw;
  }
}

void SyncStepBase::run_tower(Work& work, TowerJob& job) {
  const auto& feeds = work.feeds;
  TowerPass& pass = work.passes[static_cast<std::size_t>(job.tower)];
  gradients_.release(job.tower);
  for (auto feed = static_cast<std::size_t>(job.tower); feed < feeds.size();
       feed += static_cast<std::size_t>(towers_.size())) {
    if (feeds[feed].weight == 0) continue;
    const Scored scored = work.forward(feed, job);
    if (!scored.loss.defined() || scored.loss.numel() != 1) {
      throw UsageError("the loss function must return one number for a feed, its mean loss");
    }
    enter(job, "backward");
    // The feed's share of the whole batch goes in here, so that combining is a plain sum.
    const at::Tensor loss = scored.loss.dim() == 0 ? scored.loss : scored.loss.reshape({});
    if (loss.requires_grad())
      loss.backward(at::full_like(loss, feeds[feed].weight / work.total_weight));
    pass.weight += feeds[feed].weight;
    pass.losses.push_back(loss.item<double>());
    auto& metrics = pass.metrics.emplace_back();
    for (const auto& [name, value] : scored.metrics)
      metrics.emplace_back(name, value.item<double>());
  }
  enter(job, "collect");
  gradients_.collect(job.tower);
  buffers_.note_changes(job.tower);
  if (options_.max_tower_grad_norm && pass.weight > 0) {
    GradientNorm& norm = tower_norms_[static_cast<std::size_t>(job.tower)];
    norm.run_share(gradients_.tower_view(job.tower, work.total_weight / pass.weight), l2_, 0, 1);
    pass.grad_norm = norm.norm();
    pass.clip = clip_factor(pass.grad_norm, *options_.max_tower_grad_norm);
  }
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
      result.loss += pass.losses[done] * weight / work.total_weight;
      tower_loss += pass.losses[done] * weight / pass.weight;
      for (std::size_t i = 0; i < pass.metrics[done].size(); ++i) {
        const auto& [name, value] = pass.metrics[done][i];
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
  const auto& feeds = work.feeds;
  const auto& passes = work.passes;
  for (std::size_t tower = 0; tower < passes.size(); ++tower) {
    std::size_t done = 0;
    for (std::size_t feed = tower; feed < feeds.size(); feed += passes.size()) {
      if (feeds[feed].weight == 0) continue;
      const double loss = passes[tower].losses[done++];
      if (std::isfinite(loss)) continue;
      throw DataError(
          "tower " + std::to_string(tower) + " (" +
          towers_.device(static_cast<int>(tower)).label() + "), step " + std::to_string(count_) +
          ": the loss is " + std::to_string(loss) + " for samples " +
          sample_list(feeds[feed].samples) +
          "; nothing was updated; lower the learning rate, clip gradients, or check these samples");
    }
  }
  throw DataError("step " + std::to_string(count_) +
                  ": the norm of the gradient is not finite; nothing was "
                  "updated; lower the learning rate or clip gradients");
}

void SyncStepBase::update(const std::shared_ptr<Work>& work, StepResult& result) {
  std::vector<double> factors;  // of each tower's gradient, which its backward has weighted already
  std::vector<double> tower_weights;  // sum to 1
  double l2_scale = 0;
  for (const auto& pass : work->passes) {
    factors.push_back(pass.clip);
    tower_weights.push_back(pass.weight / result.weight);
    l2_scale += tower_weights.back() * pass.clip;
  }
  work->gradients = gradients_.view(factors);

  if (options_.max_grad_norm || options_.measure_grad_norm) {
    work->l2 = l2_;
    for (auto& one : work->l2) one *= l2_scale;
    towers_.run({.name = "combine", .step = count_}, [this, work](TowerJob& job) {
      enter(job, "combine");
      norm_.run_share(work->gradients, work->l2, job.tower, towers_.size());
    });
    result.grad_norm = norm_.norm();
    if (!std::isfinite(*result.grad_norm)) return;
    const double clip =
        options_.max_grad_norm ? clip_factor(*result.grad_norm, *options_.max_grad_norm) : 1;
    for (auto& weight : work->gradients.weights) weight *= clip;
    l2_scale *= clip;
  }

  updater_->begin(work->gradients,
                  {.update = count_, .learning_rate = result.learning_rate, .l2_scale = l2_scale});
  towers_.run({.name = "update", .step = count_}, [this, work](TowerJob& job) {
    enter(job, "update");
    updater_->run_share(job.tower, towers_.size());
  });
  updater_->end();
  if (towers_.placement() == Placement::host) {
    towers_.run({.name = "renew", .step = count_}, [this](TowerJob& job) {
      enter(job, "renew");
      towers_.renew_parameters(job.tower);
    });
  }
  buffers_.combine(tower_weights);
}

void SyncStepBase::abandon() {
  gradients_.discard();
  buffers_.restore();
}

}  // namespace pagoda
