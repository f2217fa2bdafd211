#include "train/meeting.h"

#include <pagoda/base/error.h>
#include <pagoda/base/number_text.h>

#include <cmath>
#include <string>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros_like.h>

#include "train/pack_block.h"

namespace pagoda {

void check(const LocalSteps& options) {
  const auto refuse = [](const std::string& what, const std::string& value, const char* range) {
    throw UsageError(what + " is " + value + "; it must be " + range);
  };
  if (options.every < 1)
    refuse("the number of steps between two meetings", std::to_string(options.every), "at least 1");
  if (!(std::isfinite(options.outer_rate) && options.outer_rate > 0))
    refuse("the outer learning rate", number_text(options.outer_rate), "above 0");
  if (!(options.outer_momentum >= 0 && options.outer_momentum < 1)) {
    refuse("the outer momentum", number_text(options.outer_momentum), "at least 0 and less than 1");
  }
}

Meeting::Meeting(const LocalSteps& options, const std::vector<NamedTensor>& parameters,
                 WorldSum& sum, int processes)
    : options_(options), parameters_(parameters), sum_(sum), processes_(processes) {
  check(options_);
  for (const auto& [name, tensor] : parameters_) {
    last_.push_back(tensor.detach().clone());
    momentum_.push_back(at::zeros_like(last_.back()));
  }
}

void Meeting::pack_share(int share, int shares) {
  const double part = 1.0 / processes_;
  const auto& buckets = sum_.buckets();
  for (auto b = static_cast<std::size_t>(share); b < buckets.size();
       b += static_cast<std::size_t>(shares)) {
    for (const Block& block : buckets[b].blocks) {
      const std::size_t i = block.parameter;
      const ParameterGradient move{.form = ParameterGradient::Form::dense,
                                   .towers = {last_[i], parameters_[i].tensor.detach()},
                                   .touched = {}};
      pack_block(move, {part, -part}, block, sum_.place(i));
    }
    sum_.send(b);
  }
}

void Meeting::take() {
  at::NoGradGuard no_grad;
  sum_.finish();
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (last_[i].numel() == 0) continue;
    const at::Tensor& mean = sum_.place(i);
    momentum_[i].mul_(options_.outer_momentum).add_(mean);
    last_[i].sub_(mean, options_.outer_rate);
    last_[i].sub_(momentum_[i], options_.outer_rate * options_.outer_momentum);
    parameters_[i].tensor.detach().copy_(last_[i]);
  }
}

void Meeting::begin_here() {
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    last_[i].copy_(parameters_[i].tensor.detach());
}

std::vector<NamedTensor> Meeting::state() const {
  std::vector<NamedTensor> named;
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    named.push_back({"momentum/" + parameters_[i].name, momentum_[i]});
  return named;
}

}  // namespace pagoda
