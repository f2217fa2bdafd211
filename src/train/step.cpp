#include <pagoda/base/error.h>
#include <pagoda/base/number_text.h>
#include <pagoda/train/step.h>

#include <cmath>
#include <string>
#include <utility>

#include "train/step_engine.h"
#include "train/tower_pass.h"

namespace pagoda {

Step::Step(std::shared_ptr<StepEngine> engine) : engine_(std::move(engine)) {}

Step::~Step() = default;

std::int64_t Step::count() const { return engine_->parts()->count; }

void Step::set_count(std::int64_t count) { engine_->parts()->count = count; }

double Step::rate_factor() const { return engine_->parts()->rate_factor; }

void Step::set_rate_factor(double factor) {
  if (!(std::isfinite(factor) && factor >= 0)) {
    throw UsageError("the factor of the learning rate is " + number_text(factor) +
                     "; it must be at least 0");
  }
  engine_->parts()->rate_factor = factor;
}

Updater& Step::updater() { return *engine_->parts()->updater; }

void Step::finish() { engine_->finish(); }

void Step::refresh_towers() { engine_->refresh_towers(); }

StepResult Step::run_towers(std::vector<detail::FeedInfo> feeds, detail::Compute compute) {
  return engine_->run(std::move(feeds), std::move(compute));
}

StepResult Step::run_feeds(std::vector<detail::FeedInfo> feeds, detail::Forward forward) {
  return engine_->run(std::move(feeds), one_by_one(engine_->parts(), std::move(forward)));
}

}  // namespace pagoda
