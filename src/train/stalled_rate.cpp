#include <pagoda/base/error.h>
#include <pagoda/base/number_text.h>
#include <pagoda/train/stalled_rate.h>

#include <string>

namespace pagoda {

void check(const StalledRate& rule) {
  if (!(rule.factor > 0 && rule.factor < 1)) {
    throw UsageError("the factor that lowers a stalled learning rate is " +
                     number_text(rule.factor) + "; it must be above 0 and below 1");
  }
  if (rule.validations < 1) {
    throw UsageError("the learning rate is to be lowered after " +
                     std::to_string(rule.validations) + " validations; it must be at least 1");
  }
}

bool lower_stalled_rate(double loss, const StalledRate& rule, RunState& state, Step& step) {
  check(rule);
  if (loss < state.lowest_loss.value_or(loss + 1)) {
    state.lowest_loss = loss;
    state.stalled_validations = 0;
    return false;
  }
  if (++state.stalled_validations < rule.validations) return false;
  state.stalled_validations = 0;
  state.rate_factor *= rule.factor;
  step.set_rate_factor(state.rate_factor);
  return true;
}

}  // namespace pagoda
