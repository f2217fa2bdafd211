// The second half of a synchronous step: from the towers' gradients to new parameters.
#include <cmath>

#include "reduce/card_sum.h"
#include "train/sync_work.h"

namespace pagoda {

void SyncStepBase::update(const std::shared_ptr<Work>& work, StepResult& result) {
  std::vector<double> factors;  // of each tower's gradient, which its backward has weighted already
  std::vector<double> tower_weights;  // sum to 1
  double l2_scale = 0;
  for (const auto& pass : work->passes) {
    factors.push_back(card_sum_ ? 1 : pass.clip);  // cards have clipped before they summed
    tower_weights.push_back(pass.weight / result.weight);
    l2_scale += tower_weights.back() * pass.clip;
  }
  work->gradients = gradients_.view(factors);

  if (options_.max_grad_norm || options_.measure_grad_norm) {
    work->l2 = l2_;
    for (auto& one : work->l2) one *= l2_scale;
    result.grad_norm = gradient_norm(work);
    if (!std::isfinite(*result.grad_norm)) return;
    const double clip =
        options_.max_grad_norm ? clip_factor(*result.grad_norm, *options_.max_grad_norm) : 1;
    for (auto& weight : work->gradients.weights) weight *= clip;
    l2_scale *= clip;
  }

  updater_->begin(work->gradients,
                  {.update = count_, .learning_rate = result.learning_rate, .l2_scale = l2_scale});
  towers_.run({.name = "update", .step = count_}, [this, work](TowerJob& job) {
    enter(job, "update");
    // The work goes along for towers that are late.
    run_shares(job, [this, work](int share, int shares) { updater_->run_share(share, shares); });
    if (towers_.towers_update()) towers_.publish_parameters(job.tower);
  });
  updater_->end();
  if (towers_.placement() == Placement::host || towers_.placement() == Placement::spread) {
    guarded({.name = "renew", .step = count_}, [this](TowerJob& job) {
      enter(job, "renew");
      if (card_sum_) return card_sum_->exchange(job.tower);
      towers_.renew_parameters(job.tower);
    });
  }
  buffers_.combine(tower_weights);
}

double SyncStepBase::gradient_norm(const std::shared_ptr<Work>& work) {
  const auto on_cards =
      std::make_shared<std::vector<double>>(static_cast<std::size_t>(towers_.size()));
  towers_.run({.name = "combine", .step = count_}, [this, work, on_cards](TowerJob& job) {
    enter(job, "combine");
    run_shares(job, [this, work](int share, int shares) {
      norm_.run_share(work->gradients, work->l2, share, shares);
    });
    if (!card_sum_) return;
    (*on_cards)[static_cast<std::size_t>(job.tower)] = summed_squares(
        towers_.table(job.tower).trainable, towers_.share(job.tower), work->gradients, work->l2);
  });
  double squares = norm_.squares();
  for (const double one : *on_cards) squares += one;
  return std::sqrt(squares);
}

}  // namespace pagoda
