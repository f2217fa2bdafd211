#include "train/sync_engine.h"

#include <pagoda/base/error.h>
#include <pagoda/base/error_text.h>
#include <pagoda/tower/tower_error.h>
#include <pagoda/train/sync_step.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "tower/parameter_copies.h"
#include "train/gradient_hook.h"

namespace pagoda {

/// What the towers read and write during one step. They share it and what it points to, so that one
/// that is late finds everything.
struct SyncEngine::Work {
  std::shared_ptr<StepParts> parts;
  std::vector<detail::FeedInfo> feeds;
  double own_weight;    // of all feeds
  double total_weight;  // the same, or 1 without feeds: what each is a part of
  double scale;         // that gradients are multiplied by until they are combined
  detail::Compute compute;
  std::vector<TowerPass> passes;  // by tower
  CombinedGradient gradient = {};
  std::vector<double> tower_weights = {};  // sum to 1
  std::vector<double> l2 = {};             // by parameter, after the towers' clipping
  std::vector<double> squares = {};        // of the gradient, by tower: what lies on its own device

  NotFinite not_finite() const {
    NotFinite worst = NotFinite::nothing;
    for (const TowerPass& pass : passes) worst = std::max(worst, pass.not_finite());
    return worst;
  }
};

namespace {

/// Towers with fewer feeds than others have not seen all statistics that BatchNorm has followed; the
/// buffers of those that have are equal.
std::vector<double> weights_of_most(const std::vector<TowerPass>& passes) {
  std::size_t most = 0;
  for (const TowerPass& pass : passes) most = std::max(most, pass.feeds.size());
  double total = 0;
  for (const TowerPass& pass : passes) total += pass.feeds.size() == most ? pass.weight : 0;
  std::vector<double> weights;
  for (const TowerPass& pass : passes)
    weights.push_back(pass.feeds.size() == most ? pass.weight / total : 0);
  return weights;
}

bool has_card_sums(const GradientView& view) {
  return std::any_of(view.parameters.begin(), view.parameters.end(),
                     [](const ParameterGradient& gradient) {
                       return gradient.form == ParameterGradient::Form::summed;
                     });
}

/// Whether the exception that is being handled says only that a tower could not go on because of
/// another one, which is then one of another process.
bool only_interrupted() {
  try {
    throw;
  } catch (const TowerError& error) {
    try {
      std::rethrow_exception(error.cause());
    } catch (const TowerInterrupted&) {
      return true;
    } catch (...) {
      return false;
    }
  } catch (...) {
    return false;
  }
}

/// Whether towers that update hand their shares to the master in every step: others read it there.
/// Otherwise it follows when somebody asks for it.
bool publishes(const StepParts& parts) {
  if (!parts.replicas->copies().towers_update()) return false;
  const bool is_renewed_from = parts.replicas->placement() == ParameterPlacement::spread &&
                               parts.exchange->renews_from_master();
  return is_renewed_from || (parts.world && parts.world->share() != nullptr);
}

/// Norms with an L2 term read the parameters in the master.
void bring_master_for(const StepParts& parts, const std::vector<double>& l2) {
  if (std::any_of(l2.begin(), l2.end(), [](double one) { return one != 0; })) {
    parts.replicas->master();
  }
}

}  // namespace

SyncEngine::SyncEngine(TowerGroup& towers, const std::shared_ptr<StepParts>& parts,
                       const RunShares& run_shares)
    : StepEngine(towers, parts), run_shares_(run_shares), meetings_(towers, parts, run_shares) {}

/// Runs the phase; a tower that fails in it lets those go that would wait for its gradients.
void SyncEngine::guarded(const TowerPhase& phase, std::function<void(TowerJob&)> work) {
  towers().run(phase, [parts = parts(), work = std::move(work)](TowerJob& job) {
    try {
      work(job);
    } catch (...) {
      parts->abort();
      throw;
    }
  });
}

StepResult SyncEngine::run(std::vector<detail::FeedInfo> feeds, detail::Compute compute) {
  const double weight = parts()->weight_of(feeds);
  parts()->begin(feeds);
  try {
    StepResult result = step(std::move(feeds), std::move(compute), weight);
    ++parts()->count;
    meetings_.after_step(result.weight);
    return result;
  } catch (...) {
    give_up();
    throw;
  }
}

StepResult SyncEngine::step(std::vector<detail::FeedInfo> feeds, detail::Compute compute,
                            double weight) {
  // Of this process; what it is in those of all others comes in later.
  const double total_weight = weight > 0 ? weight : 1;
  const auto work = std::make_shared<Work>(
      Work{.parts = parts(),
           .feeds = std::move(feeds),
           .own_weight = weight,
           .total_weight = total_weight,
           .scale = parts()->scale(),
           .compute = std::move(compute),
           .passes = std::vector<TowerPass>(static_cast<std::size_t>(towers().size()))});
  if (meetings_.are_held() && weight == 0)
    return summarise(*work);  // the others have the rest of the data
  if (parts()->options.max_tower_grad_norm) bring_master_for(*parts(), parts()->scaled_l2(1));
  TowerPhase forward = parts()->phase("forward");
  forward.fresh_randomness = true;
  forward.block = kComputeBlock;
  guarded(forward, [work](TowerJob& job) {
    work->passes[static_cast<std::size_t>(job.tower)] =
        compute_tower(*work->parts, work->feeds, work->compute, job.tower, work->total_weight, job);
  });
  StepResult result = summarise(*work);
  NotFinite found = combine(work, result);
  if (found == NotFinite::nothing) found = update(work, result);
  if (found != NotFinite::nothing) {
    leave_out(*work, found, result);
  } else if (parts()->loss_scaler) {
    parts()->loss_scaler->note_update(work->scale);
  }
  return result;
}

/// Something is not finite: nothing is updated, anywhere.
void SyncEngine::leave_out(const Work& work, NotFinite found, StepResult& result) {
  if (parts()->note_overflow(found, work.scale)) {
    result.overflows = 1;
  } else if (parts()->options.on_non_finite == NonFinite::stop) {
    report_non_finite(work);
  }
  parts()->abandon();
  result.skipped = true;
}

void SyncEngine::finish() { meetings_.finish(); }

/// After a failure, in its handler: no tower and no process waits for what will not come.
void SyncEngine::give_up() {
  WorldStep* const world = parts()->world.get();
  const bool interrupted = world != nullptr && only_interrupted();
  if (world != nullptr && !interrupted) world->fail(error_text(std::current_exception()));
  if (towers().usable()) {
    parts()->abandon();
  } else {
    parts()->abort();  // the others wait for the late one
  }
  if (interrupted) world->throw_failure_of_others();
}

StepResult SyncEngine::summarise(const Work& work) const {
  StepResult result{
      .step = parts()->count, .weight = work.own_weight, .learning_rate = parts()->learning_rate()};
  if (parts()->loss_scaler) result.loss_scale = work.scale;
  for (const TowerPass& pass : work.passes) {
    double tower_loss = pass.feeds.empty() ? std::numeric_limits<double>::quiet_NaN() : 0;
    for (std::size_t i = 0; i < pass.feeds.size(); ++i) {
      const double weight = work.feeds[pass.feeds[i]].weight;
      const FeedScore& score = pass.scores[i];
      result.loss += score.loss * weight / work.total_weight;
      tower_loss += score.loss * weight / pass.weight;
      for (std::size_t m = 0; m < score.metrics.size(); ++m) {
        const auto& [name, value] = score.metrics[m];
        if (m == result.metrics.size()) result.metrics.emplace_back(name, 0);
        result.metrics[m].second += value * weight / work.total_weight;
      }
    }
    result.tower_losses.push_back(tower_loss);
  }
  return result;
}

/// The gradient of all towers, of other processes too.
NotFinite SyncEngine::combine(const std::shared_ptr<Work>& work, StepResult& result) {
  StepParts& own = *parts();
  CombinedGradient& gradient = work->gradient;
  std::vector<double> clips;  // of each tower's gradient, which its backward has weighted
  for (const TowerPass& pass : work->passes) {
    clips.push_back(pass.clip.factor);
    work->tower_weights.push_back(pass.weight / work->total_weight);
    gradient.l2_scale += work->tower_weights.back() * pass.clip.factor;
  }
  gradient.view = own.exchange->view(clips);
  for (double& weight : gradient.view.weights) weight /= work->scale;
  if (!exchanges_gradients()) return work->not_finite();
  const NotFinite found = own.world->agree(result, gradient, work->not_finite());
  towers().run(parts()->phase("exchange"), [work, run_shares = run_shares_](TowerJob& job) {
    job.enter("exchange");
    run_shares(job, [work](int share, int shares) {
      work->parts->world->pack_share(work->gradient.view, share, shares);
    });
  });
  // Also what comes to nothing: some of it may have left already.
  gradient.view = own.world->exchange(gradient.view);
  return found;
}

/// From the combined gradient to new parameters, unless its norm is not finite.
NotFinite SyncEngine::update(const std::shared_ptr<Work>& work, StepResult& result) {
  StepParts& own = *parts();
  CombinedGradient& gradient = work->gradient;
  if (own.measures_before_hook() && !std::isfinite(gradient_norm(work))) return NotFinite::gradient;
  if (own.options.on_gradient) {
    gradient.view =
        after_hook(own.options.on_gradient, own.replicas->master().trainable, gradient.view);
  }
  if (own.measures_norm()) result.grad_norm = gradient.norm = gradient_norm(work);
  if (!own.clip(gradient)) return NotFinite::gradient;

  own.updater->begin(
      gradient.view,
      {.update = own.count, .learning_rate = result.learning_rate, .l2_scale = gradient.l2_scale});
  towers().run(parts()->phase("update"), [work, run_shares = run_shares_](TowerJob& job) {
    job.enter("update");
    // The work goes along for towers that are late.
    run_shares(job,
               [work](int share, int shares) { work->parts->updater->run_share(share, shares); });
    if (publishes(*work->parts)) work->parts->replicas->copies().publish(job.tower);
  });
  if (own.replicas->copies().towers_update() && !publishes(own)) {
    own.replicas->copies().note_update();
  }
  own.updater->end();
  if (own.world && own.world->share() != nullptr) own.world->share()->exchange();
  const ParameterPlacement placement = own.replicas->placement();
  if (placement == ParameterPlacement::host || placement == ParameterPlacement::spread) {
    guarded(parts()->phase("renew"), [work](TowerJob& job) {
      job.enter("renew");
      work->parts->exchange->renew(job.tower);
    });
  }
  std::vector<BufferValue> buffers = own.buffers.values(
      own.replicas->batch_norm() ? weights_of_most(work->passes) : work->tower_weights);
  if (exchanges_gradients()) own.world->share_buffers(buffers, work->own_weight);
  own.buffers.take(buffers);
  return NotFinite::nothing;
}

double SyncEngine::gradient_norm(const std::shared_ptr<Work>& work) {
  work->l2 = parts()->scaled_l2(work->gradient.l2_scale);
  bring_master_for(*parts(), work->l2);
  work->squares.resize(static_cast<std::size_t>(towers().size()));
  towers().run(parts()->phase("combine"), [work, run_shares = run_shares_](TowerJob& job) {
    job.enter("combine");
    run_shares(job, [work](int share, int shares) {
      const WorldStep* world = work->parts->world.get();
      const WorldShare* spread = world != nullptr ? world->share() : nullptr;
      work->parts->norm.run_share(work->gradient.view, work->l2,
                                  spread != nullptr ? spread->first_tower() + share : share,
                                  spread != nullptr ? spread->all_towers() : shares);
    });
    work->squares[static_cast<std::size_t>(job.tower)] =
        work->parts->exchange->squares_on_device(job.tower, work->gradient.view, work->l2);
  });
  double squares = parts()->world && parts()->world->share() != nullptr
                       ? parts()->world->sum_of_parts(parts()->norm.squares_by_block())
                       : parts()->norm.squares();
  for (const double one : work->squares) squares += one;
  // Each process has added up the parts of its own cards, whose number changes the bits.
  if (exchanges_gradients() && has_card_sums(work->gradient.view))
    squares = parts()->world->of_first(squares);
  return std::sqrt(squares);
}

void SyncEngine::report_non_finite(const Work& work) const {
  const std::string step = "step " + std::to_string(parts()->count) + ": ";
  std::string text;
  for (int tower = 0; text.empty() && tower < towers().size(); ++tower) {
    const TowerPass& pass = work.passes[static_cast<std::size_t>(tower)];
    if (pass.not_finite() == NotFinite::nothing) continue;
    text = "tower " + std::to_string(tower) + " (" + towers().device(tower).label() + "), " + step +
           non_finite_text(pass, work.feeds);
  }
  if (exchanges_gradients()) text = parts()->world->first_text(text);
  throw DataError(text.empty() ? step + kNonFiniteNorm : text);
}

namespace detail {

std::shared_ptr<StepEngine> make_sync_engine(TowerGroup& towers, const AnyOptimizer& optimizer,
                                             const StepOptions& options) {
  return std::make_shared<SyncEngine>(towers, make_parts(towers, optimizer, options),
                                      one_share_a_tower(towers.size()));
}

}  // namespace detail
}  // namespace pagoda
