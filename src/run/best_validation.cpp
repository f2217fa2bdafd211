#include "run/best_validation.h"

#include <cmath>
#include <string>

namespace pagoda {

bool count_validation(const Evaluation& evaluation, const RunTask& task, RunState& state) {
  const std::string watched = task.watched();
  const double value = watched == "loss" ? evaluation.loss : evaluation.metric(watched);
  const auto is_better_than = [&](double best) {
    return task.better() == Better::more ? value > best : value < best;
  };
  const bool has_best = state.best && !std::isnan(*state.best);
  const bool is_best = !std::isnan(value) && (!has_best || is_better_than(*state.best));
  ++state.stale_validations;
  if (is_best) {
    state.best = value;
    state.best_step = state.step;
    state.stale_validations = 0;
  }
  return is_best;
}

bool is_stale(const RunState& state, std::int64_t early_stopping) {
  return early_stopping > 0 && state.stale_validations >= early_stopping;
}

}  // namespace pagoda
