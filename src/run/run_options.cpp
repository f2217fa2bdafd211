#include <pagoda/base/error.h>
#include <pagoda/base/grouped_number.h>
#include <pagoda/run/run_options.h>

#include <limits>

#include "run/run_processes.h"
#include "run/shared_plan.h"

namespace pagoda {
namespace {

/// Nothing for 0, which means "off".
std::optional<double> unless_zero(double value) {
  return value == 0 ? std::nullopt : std::optional<double>(value);
}

constexpr double kMostSamples = 1e12;  // of a tower's step, so that no product of counts overflows

void at_least_one(const char* what, std::int64_t count) {
  if (count < 1)
    throw UsageError(std::string(what) + " must be at least 1, not " + std::to_string(count));
}

void check_counts(const RunOptions& options) {
  at_least_one("a number of stages", options.stages.cut.stages);
  at_least_one("a number of micro-batches", options.stages.parts());
  at_least_one("the feeds that a tower accumulates", options.accumulate);
  at_least_one("a batch", options.batch_size);
  at_least_one("a global batch", options.global_batch_size.value_or(1));
  at_least_one("the steps between two log lines", options.log_every);
  const double feeds = static_cast<double>(options.accumulate) * options.stages.parts();
  const double samples = feeds * static_cast<double>(options.batch_size);
  if (feeds > std::numeric_limits<int>::max() || samples > kMostSamples) {
    throw UsageError("a tower's step of " + std::to_string(options.accumulate) + " times " +
                     counted(options.stages.parts(), "micro-batch") + " and batches of " +
                     std::to_string(options.batch_size) +
                     " is too large; accumulate less, or take smaller batches");
  }
}

}  // namespace

RunOptions checked(RunOptions options) {
  check_counts(options);
  if (options.world) expect_same_plan(*options.world, shared_plan_text(options));
  return options;
}

void join_processes(RunOptions& options) {
  options.world = join_world(options.processes, options.devices);
}

std::int64_t feed_size(const RunOptions& options, int towers) {
  if (!options.global_batch_size) return options.stages.part_of(options.batch_size);
  const std::int64_t feeds = static_cast<std::int64_t>(towers) * options.accumulate;
  if (*options.global_batch_size % feeds != 0) {
    throw UsageError("a global batch of " + std::to_string(*options.global_batch_size) +
                     " samples cannot be divided by " + counted(feeds, "feed") + " (" +
                     counted(towers, "tower") + ", " + counted(options.accumulate, "feed") +
                     " each); give a multiple of " + std::to_string(feeds));
  }
  return options.stages.part_of(*options.global_batch_size / feeds);
}

int feeds_per_tower(const RunOptions& options) {
  return options.accumulate * options.stages.parts();
}

std::int64_t run_steps(const RunOptions& options, std::int64_t steps_per_epoch) {
  return options.max_steps.value_or(options.epochs * steps_per_epoch);
}

TowerOptions tower_options(const RunOptions& options) {
  TowerOptions towers{
      .seed = options.seed, .placement = options.parameters, .precision = options.precision};
  if (!towers.placement && async_options(options)) towers.placement = ParameterPlacement::host;
  return towers;
}

StepOptions step_options(const RunOptions& options) {
  return {.max_tower_grad_norm = unless_zero(options.optimizer.max_tower_grad_norm),
          .max_grad_norm = unless_zero(options.optimizer.max_grad_norm),
          .l2 = options.optimizer.l2,
          .decay_scope = DecayScope::weights,
          .parameter_rules = chosen_rules(options.optimizer),
          .moving_average = chosen_average(options.optimizer),
          .on_non_finite = options.on_non_finite,
          .loss_scale = options.loss_scale,
          .measure_grad_norm = true,
          .world = options.world,
          .wire = options.wire,
          .local_steps = options.local_steps};
}

LoadOptions init_options(const RunOptions& options) {
  const bool has_others = options.init_partially || !options.init_remove_prefix.empty() ||
                          !options.init_add_prefix.empty();
  if (options.init_from.empty() && has_others) {
    throw UsageError(
        "initial weights are to be loaded partially or with another prefix, but from no file; name "
        "the file too");
  }
  return {.strict = !options.init_partially,
          .remove_prefix = options.init_remove_prefix,
          .add_prefix = options.init_add_prefix};
}

std::optional<StalledRate> stalled_rate(const RunOptions& options) {
  if (options.lr_stall_factor == 1) return std::nullopt;
  const StalledRate rule{.factor = options.lr_stall_factor, .validations = options.lr_stall_tests};
  check(rule);
  return rule;
}

std::optional<AsyncOptions> async_options(const RunOptions& options) {
  if (options.update == UpdateKind::async) {
    if (options.stages.is_staged())
      throw UsageError("towers of " + std::to_string(options.stages.cut.stages) +
                       " stages update together; leave out the stages or asynchronous updates");
    return AsyncOptions{.max_staleness = options.max_staleness};
  }
  if (options.max_staleness)
    throw UsageError("a bound of staleness (" + std::to_string(*options.max_staleness) +
                     ") is for asynchronous updates; ask for these too");
  return std::nullopt;
}

}  // namespace pagoda
