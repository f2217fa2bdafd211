#include "reduce/card_exchange.h"

#include <utility>

#include "reduce/card_norm.h"
#include "tower/parameter_copies.h"

namespace pagoda {

CardExchange::CardExchange(const std::shared_ptr<const Replicas>& replicas,
                           std::unique_ptr<CardLink> link, std::optional<double> max_tower_norm,
                           std::optional<at::ScalarType> narrow)
    : replicas_(replicas),
      max_tower_norm_(max_tower_norm),
      sum_(replicas, std::move(link), std::nullopt, narrow),
      gradients_(replicas, GradientCollector::Gradients::summed_on_cards) {}

void CardExchange::last_backward(int tower) {
  // A gradient that is to be clipped cannot leave before all of it is there.
  if (!max_tower_norm_) sum_.begin(tower);
}

Clipped CardExchange::collect(int tower, double mean_scale, const std::vector<double>& l2) {
  Clipped clip;
  if (max_tower_norm_ && mean_scale > 0) {  // now: afterwards only the sum is left
    const auto& parameters = replicas_->table(tower).trainable;
    clip = clipped(own_gradient_norm(parameters, mean_scale, l2), max_tower_norm_);
    scale_gradients(parameters, clip.factor);
  }
  sum_.end(tower);
  gradients_.collect(tower);
  return clip;
}

GradientView CardExchange::view(const std::vector<double>& clips) {
  return gradients_.view(std::vector<double>(clips.size(), 1));  // the clips are in the sum
}

double CardExchange::squares_on_device(int tower, const GradientView& gradients,
                                       const std::vector<double>& l2) const {
  return summed_squares(replicas_->table(tower).trainable, replicas_->copies().share(tower),
                        gradients, l2);
}

void CardExchange::discard() {
  sum_.reset();
  gradients_.discard();
}

}  // namespace pagoda
