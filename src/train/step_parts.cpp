#include "train/step_parts.h"

#include <pagoda/base/error.h>
#include <pagoda/base/number_text.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <string>
#include <utility>

#include "optim/own_updater.h"
#include "optim/part_updater.h"
#include "optim/torch_updater.h"
#include "reduce/host_exchange.h"
#include "tower/batch_norm_exchange.h"
#include "tower/parameter_copies.h"
#include "train/spread_updater.h"

namespace pagoda {
namespace {

UpdateOptions update_options(const StepOptions& options) {
  return {.l2 = options.l2,
          .decay_scope = options.decay_scope,
          .moving_average = options.moving_average,
          .rows = options.rows,
          .rules = options.parameter_rules};
}

void check_rules(const std::vector<ParameterRule>& rules, const Replicas& replicas) {
  std::vector<std::string> names;
  for (const auto* list : {&replicas.master().trainable, &replicas.master().frozen}) {
    for (const auto& entry : *list) names.push_back(entry.name);
  }
  check(rules, names);
}

/// What the step itself needs of each parameter's settings; the optimizer has its own.
std::vector<ParameterSettings> step_settings(const Replicas& replicas, const StepOptions& options,
                                             const std::vector<ParameterRule>& rules) {
  std::vector<ParameterSettings> settings;
  for (const auto& [name, tensor] : replicas.master().trainable) {
    const double l2 = decays(options.decay_scope, tensor) ? options.l2 : 0;
    settings.push_back(with_rules({.l2 = l2}, rules, name));
  }
  return settings;
}

void check_clip(const std::optional<double>& max_norm, const char* what) {
  if (max_norm && !(std::isfinite(*max_norm) && *max_norm > 0)) {
    throw UsageError(std::string(what) + " is " + number_text(*max_norm) + "; it must be above 0");
  }
}

}  // namespace

StepParts::StepParts(std::shared_ptr<Replicas> step_replicas, std::unique_ptr<Updater> step_updater,
                     std::unique_ptr<GradientExchange> step_exchange,
                     const StepOptions& step_options, std::shared_ptr<const WorldShare> share)
    : replicas(std::move(step_replicas)),
      options(step_options),
      updater(std::move(step_updater)),
      exchange(std::move(step_exchange)),
      buffers(replicas, options.buffers),
      norm(replicas->master().trainable),
      world(options.world ? std::make_unique<WorldStep>(options, replicas, std::move(share))
                          : nullptr),
      loss_scaler(replicas->options().precision == Precision::fp16
                      ? std::make_unique<LossScaler>(options.loss_scale)
                      : nullptr) {
  check_clip(options.max_tower_grad_norm, "the largest norm of a tower's gradient");
  check_clip(options.max_grad_norm, "the largest norm of the gradient");
  settings_ = step_settings(*replicas, options, options.parameter_rules);
}

void StepParts::set_rules(const std::vector<ParameterRule>& rules) {
  check_rules(rules, *replicas);
  updater->set_rules(rules);
  settings_ = step_settings(*replicas, options, rules);
}

double StepParts::weight_of(const std::vector<detail::FeedInfo>& feeds) const {
  double total_weight = 0;
  for (std::size_t i = 0; i < feeds.size(); ++i) {
    if (!(std::isfinite(feeds[i].weight) && feeds[i].weight >= 0)) {
      throw UsageError("step " + std::to_string(count) + ", feed " + std::to_string(i) +
                       ": its weight is " + number_text(feeds[i].weight) +
                       "; it must be finite and at least 0");
    }
    total_weight += feeds[i].weight;
  }
  if (!(total_weight > 0) && !world) {
    throw UsageError("step " + std::to_string(count) + " got " + std::to_string(feeds.size()) +
                     " feeds without a single sample; leave such a step out");
  }
  return total_weight;
}

std::vector<double> StepParts::scaled_l2(double scale) const {
  std::vector<double> scaled;
  for (const ParameterSettings& one : settings_) scaled.push_back(one.l2 * scale);
  return scaled;
}

bool StepParts::clip(CombinedGradient& gradient) const {
  if (!gradient.norm) return true;
  if (!std::isfinite(*gradient.norm)) return false;
  const double factor = clipped(*gradient.norm, options.max_grad_norm).factor;
  for (double& weight : gradient.view.weights) weight *= factor;
  gradient.l2_scale *= factor;
  return true;
}

void StepParts::begin(const std::vector<detail::FeedInfo>& feeds) {
  buffers.begin();
  std::vector<int> counts;
  std::vector<double> weights;
  for (int tower = 0; tower < replicas->size(); ++tower) {
    counts.push_back(0);
    weights.push_back(0);
    for (const std::size_t feed : feeds_of(tower, replicas->size(), feeds.size())) {
      counts.back() += feeds[feed].weight > 0 ? 1 : 0;
      weights.back() += feeds[feed].weight;
    }
  }
  if (world) {
    std::vector<char> trained;
    for (const ParameterSettings& one : settings_) trained.push_back(one.frozen ? 0 : 1);
    world->begin(weights, std::move(trained), scale());
    if (world->meeting() == nullptr)
      exchange->weigh(std::accumulate(weights.begin(), weights.end(), 0.0));
  }
  if (replicas->batch_norm()) replicas->batch_norm()->begin_step(std::move(counts));
}

void StepParts::abort() {
  exchange->abort();
  if (replicas->batch_norm()) replicas->batch_norm()->abort();
}

void StepParts::abandon() {
  exchange->discard();
  buffers.restore();
}

namespace {

using MakePart = std::function<std::unique_ptr<PartUpdater>(
    const std::vector<NamedTensor>& parameters, UpdatePart part)>;

/// The updater of one copy, or of all copies joined. `make` must own what it needs: a tower that is
/// late may still call it.
std::unique_ptr<Updater> make_parted(TowerGroup& towers, const std::shared_ptr<World>& world,
                                     const WorldShare* share, const MakePart& make) {
  const auto replicas = towers.replicas();
  if (!replicas->copies().towers_update()) return make(towers.master().trainable, {});
  // Each tower builds its part in its thread: the state is in its memory.
  const bool spread = replicas->placement() == ParameterPlacement::spread;
  const int first = share != nullptr ? share->first_tower() : 0;
  const int total = share != nullptr ? share->all_towers() : replicas->size();
  if (share != nullptr) replicas->copies().divide_among(first, total);
  const auto parts = std::make_shared<std::vector<std::unique_ptr<PartUpdater>>>(
      static_cast<std::size_t>(towers.size()));
  towers.run({.name = "construction"},
             [replicas, parts, spread, make, first, total](TowerJob& job) {
               const UpdatePart part = spread ? UpdatePart{first + job.tower, total} : UpdatePart{};
               (*parts)[static_cast<std::size_t>(job.tower)] =
                   make(replicas->table(job.tower).trainable, part);
             });
  auto joined = join_updaters(std::move(*parts), spread ? Joined::parts : Joined::copies);
  return share != nullptr ? spread_over(world, std::move(joined)) : std::move(joined);
}

/// For each kind of optimizer.
struct UpdaterMaker {
  TowerGroup& towers;
  const StepOptions& step;
  const WorldShare* share;
  const UpdateOptions options = update_options(step);

  std::unique_ptr<Updater> operator()(const OptimizerOptions& optimizer) const {
    check_own_rate();
    check(optimizer);
    check(options);
    return make_parted(towers, step.world, share,
                       [optimizer, options = options](const auto& parameters, UpdatePart part) {
                         return make_part_updater(parameters, optimizer, options, part);
                       });
  }

  std::unique_ptr<Updater> operator()(
      const std::shared_ptr<const detail::ElementUpdate>& update) const {
    check_own_rate();
    return make_parted(towers, step.world, share,
                       [update, options = options](const auto& parameters, UpdatePart part) {
                         return make_element_updater(parameters, update, options, part);
                       });
  }

  std::unique_ptr<Updater> operator()(
      const std::shared_ptr<const detail::WholeUpdate>& update) const {
    check_own_rate();
    return make_parted(towers, step.world, share,
                       [update, options = options](const auto& parameters, UpdatePart part) {
                         return make_whole_updater(parameters, update, options, part);
                       });
  }

  std::unique_ptr<Updater> operator()(torch::optim::Optimizer* optimizer) const {
    const ParameterCopies& copies = towers.replicas()->copies();
    if (copies.towers_update()) {
      throw UsageError(
          std::string("a torch::optim::Optimizer updates one copy of the parameters; ") +
          placement_name(copies.placement()) +
          " ones have several: place them shared or host, or use a built-in optimizer");
    }
    return make_torch_updater(copies.master().trainable, *optimizer, options, step.learning_rate);
  }

  void check_own_rate() const {
    if (!step.learning_rate) return;
    throw UsageError(
        "StepOptions::learning_rate is for a torch::optim::Optimizer; other optimizers have a "
        "learning_rate of their own");
  }
};

}  // namespace

std::unique_ptr<Updater> make_updater(TowerGroup& towers, const AnyOptimizer& optimizer,
                                      const StepOptions& options, const WorldShare* share) {
  check_rules(options.parameter_rules, *towers.replicas());
  return std::visit(UpdaterMaker{towers, options, share}, optimizer.choice());
}

namespace {

/// What several processes cannot do.
void check_with_others(const Replicas& replicas, const AnyOptimizer& optimizer,
                       const StepOptions& options) {
  if (replicas.batch_norm()) {
    throw UsageError(
        "BatchNorm statistics are synchronised among the towers of one process only; leave out "
        "sync_batch_norm, or the other processes");
  }
  const bool spread = replicas.placement() == ParameterPlacement::spread;
  if (spread && options.on_gradient) {
    throw UsageError(
        "a gradient that is spread over processes is nowhere whole, for on_gradient to see; place "
        "the parameters otherwise");
  }
  if (spread && options.local_steps.every > 1) {
    throw UsageError(
        "processes that train on their own need all of the optimizer's state; place the parameters "
        "otherwise than spread, or meet in every step");
  }
  if (options.local_steps.every > 1 &&
      std::holds_alternative<torch::optim::Optimizer*>(optimizer.choice())) {
    throw UsageError(
        "processes that train on their own take the mean of their optimizers' states when they "
        "meet, which a torch::optim::Optimizer does not allow; use a built-in one, or meet in "
        "every step");
  }
}

/// What cards of one process sum fp32 gradients in among themselves.
std::optional<at::ScalarType> narrow_between_cards(const Replicas& replicas, WireType wire) {
  if (share_memory(replicas.devices())) return std::nullopt;
  if (wire == WireType::fp16) {
    throw UsageError(
        "gradients travel in fp16 between processes only, which bring each message into its range; "
        "within one process take fp32 or bf16");
  }
  return wire == WireType::bf16 ? std::optional(at::kBFloat16) : std::nullopt;
}

/// Cards of several processes sum among themselves where gradients travel as they are, in every step.
std::unique_ptr<GradientExchange> make_exchange(const std::shared_ptr<const Replicas>& replicas,
                                                const StepOptions& options) {
  const std::shared_ptr<World>& world = options.world;
  if (!world) {
    return make_gradient_exchange(replicas, options.max_tower_grad_norm,
                                  narrow_between_cards(*replicas, options.wire));
  }
  if (options.local_steps.every > 1)
    return make_gradient_exchange(replicas, options.max_tower_grad_norm);
  if (options.wire != WireType::fp32)
    return std::make_unique<HostExchange>(replicas, options.max_tower_grad_norm);
  return make_gradient_exchange(
      replicas, options.max_tower_grad_norm, std::nullopt,
      LinkPeers{.rank = world->rank(),
                .gather = [world](const std::string& own) { return world->gather(own); },
                .has_failed = [world] { return world->has_failed(); }});
}

}  // namespace

std::shared_ptr<StepParts> make_parts(TowerGroup& towers, const AnyOptimizer& optimizer,
                                      const StepOptions& options) {
  const auto& replicas = towers.replicas();
  std::shared_ptr<const WorldShare> share;
  if (options.world) {
    check_with_others(*replicas, optimizer, options);
    if (replicas->placement() == ParameterPlacement::spread) {
      share = std::make_shared<WorldShare>(options.world, replicas->master().trainable,
                                           replicas->size());
    }
  }
  auto updater = make_updater(towers, optimizer, options, share.get());
  return std::make_shared<StepParts>(replicas, std::move(updater), make_exchange(replicas, options),
                                     options, std::move(share));
}

}  // namespace pagoda
