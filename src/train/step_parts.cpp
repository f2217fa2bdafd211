#include "train/step_parts.h"

#include <pagoda/base/error.h>
#include <pagoda/base/number_text.h>

#include <cmath>
#include <string>
#include <utility>

#include "optim/fused_updater.h"
#include "optim/part_updater.h"
#include "optim/torch_updater.h"
#include "tower/parameter_copies.h"

namespace pagoda {
namespace {

UpdateOptions update_options(const StepOptions& options) {
  return {.l2 = options.l2,
          .decay_scope = options.decay_scope,
          .moving_average = options.moving_average,
          .rows = options.rows};
}

void check_clip(const std::optional<double>& max_norm, const char* what) {
  if (max_norm && !(std::isfinite(*max_norm) && *max_norm > 0)) {
    throw UsageError(std::string(what) + " is " + number_text(*max_norm) + "; it must be above 0");
  }
}

}  // namespace

StepParts::StepParts(std::shared_ptr<Replicas> step_replicas, std::unique_ptr<Updater> step_updater,
                     std::unique_ptr<GradientExchange> step_exchange,
                     const StepOptions& step_options)
    : replicas(std::move(step_replicas)),
      options(step_options),
      l2(l2_by_parameter(*replicas, options)),
      updater(std::move(step_updater)),
      exchange(std::move(step_exchange)),
      buffers(replicas, options.buffers),
      norm(replicas->master().trainable) {
  check_clip(options.max_tower_grad_norm, "the largest norm of a tower's gradient");
  check_clip(options.max_grad_norm, "the largest norm of the gradient");
}

double StepParts::weight_of(const std::vector<detail::FeedInfo>& feeds) const {
  double total_weight = 0;
  for (const auto& feed : feeds) total_weight += feed.weight;
  if (!(total_weight > 0)) {
    throw UsageError("step " + std::to_string(count) + " got " + std::to_string(feeds.size()) +
                     " feeds without a single sample; leave such a step out");
  }
  return total_weight;
}

std::vector<double> StepParts::scaled_l2(double scale) const {
  std::vector<double> scaled = l2;
  for (double& one : scaled) one *= scale;
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

void StepParts::abandon() {
  exchange->discard();
  buffers.restore();
}

std::vector<double> l2_by_parameter(const Replicas& replicas, const StepOptions& options) {
  std::vector<double> l2;
  for (const auto& entry : replicas.master().trainable)
    l2.push_back(decays(options.decay_scope, entry.tensor) ? options.l2 : 0);
  return l2;
}

TowerClipping tower_clipping(const Replicas& replicas, const StepOptions& options) {
  return {.max_norm = options.max_tower_grad_norm, .l2 = l2_by_parameter(replicas, options)};
}

namespace {

std::unique_ptr<Updater> make_builtin(TowerGroup& towers, const OptimizerOptions& optimizer,
                                      const StepOptions& step_options) {
  if (step_options.learning_rate) {
    throw UsageError(
        "StepOptions::learning_rate is for a torch::optim::Optimizer; the built-in optimizers "
        "have a learning_rate of their own");
  }
  const UpdateOptions options = update_options(step_options);
  const auto replicas = towers.replicas();
  if (!replicas->copies().towers_update())
    return make_fused_updater(towers.master().trainable, optimizer, options);
  check(optimizer);
  check(options);
  // Each tower builds its part in its thread: the state is in its memory.
  const bool spread = replicas->placement() == ParameterPlacement::spread;
  const auto parts = std::make_shared<std::vector<std::unique_ptr<PartUpdater>>>(
      static_cast<std::size_t>(towers.size()));
  towers.run(
      {.name = "construction"}, [replicas, parts, spread, optimizer, options](TowerJob& job) {
        const UpdatePart part = spread ? UpdatePart{job.tower, replicas->size()} : UpdatePart{};
        (*parts)[static_cast<std::size_t>(job.tower)] =
            make_part_updater(replicas->table(job.tower).trainable, optimizer, options, part);
      });
  return join_updaters(std::move(*parts), spread ? Joined::parts : Joined::copies);
}

std::unique_ptr<Updater> make_users_own(TowerGroup& towers, torch::optim::Optimizer& optimizer,
                                        const StepOptions& options) {
  const ParameterCopies& copies = towers.replicas()->copies();
  if (copies.towers_update()) {
    throw UsageError(std::string("a torch::optim::Optimizer updates one copy of the parameters; ") +
                     placement_name(copies.placement()) +
                     " ones have several: place them shared or host, or use a built-in optimizer");
  }
  return make_torch_updater(copies.master().trainable, optimizer, update_options(options),
                            options.learning_rate);
}

}  // namespace

std::unique_ptr<Updater> make_updater(TowerGroup& towers, const detail::AnyOptimizer& optimizer,
                                      const StepOptions& options) {
  if (const auto* own = std::get_if<torch::optim::Optimizer*>(&optimizer))
    return make_users_own(towers, **own, options);
  return make_builtin(towers, std::get<OptimizerOptions>(optimizer), options);
}

std::shared_ptr<StepParts> make_parts(TowerGroup& towers, const detail::AnyOptimizer& optimizer,
                                      const StepOptions& options) {
  const auto& replicas = towers.replicas();
  auto updater = make_updater(towers, optimizer, options);
  return std::make_shared<StepParts>(
      replicas, std::move(updater),
      make_gradient_exchange(replicas, tower_clipping(*replicas, options)), options);
}

}  // namespace pagoda
