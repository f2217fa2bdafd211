#include <pagoda/base/error.h>
#include <pagoda/base/number_text.h>
#include <pagoda/train/step.h>

#include <cmath>
#include <string>
#include <utility>

#include "tower/replica_use.h"
#include "train/step_engine.h"
#include "train/tower_pass.h"

namespace pagoda {

Step::Step(std::shared_ptr<StepEngine> engine) : engine_(std::move(engine)) {}

Step::~Step() = default;

std::int64_t Step::count() const { return engine_->parts()->count; }

void Step::set_count(std::int64_t count) {
  if (count < 0) {
    throw UsageError("the number of steps done is " + std::to_string(count) +
                     "; it must be at least 0");
  }
  engine_->parts()->count = count;
}

double Step::rate_factor() const { return engine_->parts()->rate_factor; }

void Step::set_rate_factor(double factor) {
  if (!(std::isfinite(factor) && factor >= 0)) {
    throw UsageError("the factor of the learning rate is " + number_text(factor) +
                     "; it must be at least 0");
  }
  engine_->parts()->rate_factor = factor;
}

LossScaleState Step::loss_scale() const {
  const LossScaler* scaler = engine_->parts()->loss_scaler.get();
  return scaler != nullptr ? scaler->state() : LossScaleState();
}

void Step::set_loss_scale(const LossScaleState& state) {
  LossScaler* scaler = engine_->parts()->loss_scaler.get();
  if (scaler != nullptr && state.scale) scaler->load(state);
}

void Step::set_parameter_rules(const std::vector<ParameterRule>& rules) {
  finish();
  engine_->parts()->set_rules(rules);
}

Updater& Step::updater() { return *engine_->parts()->updater; }

void Step::finish() { engine_->finish(); }

double Step::take_others_weight() {
  const WorldStep* world = engine_->parts()->world.get();
  const bool meets = world != nullptr && world->meeting() != nullptr;
  return meets ? world->meeting()->take_others_weight() : 0;
}

bool Step::shares_state() const { return engine_->shares_state(); }

std::vector<NamedTensor> Step::exchange_state() { return engine_->exchange_state(); }

void Step::load_exchange(const std::vector<NamedTensor>& state) { engine_->load_exchange(state); }

void Step::refresh_towers() { engine_->refresh_towers(); }

void Step::check_turn() const {
  const Replicas& replicas = *engine_->parts()->replicas;
  check_free(replicas.use(), engine_.get(), "a step");
  if (replicas.use().at_work == nullptr) check_requires_grad(replicas);
}

StepResult Step::run_towers(std::vector<detail::FeedInfo> feeds, detail::Compute compute) {
  check_turn();
  return engine_->run(std::move(feeds), std::move(compute));
}

StepResult Step::run_feeds(std::vector<detail::FeedInfo> feeds, detail::Forward forward) {
  check_turn();
  return engine_->run(std::move(feeds), one_by_one(engine_->parts(), std::move(forward)));
}

}  // namespace pagoda
