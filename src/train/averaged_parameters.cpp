#include <pagoda/optim/updater.h>
#include <pagoda/train/averaged_parameters.h>

#include <ATen/core/grad_mode.h>

#include "tower/parameter_copies.h"
#include "tower/replica_use.h"

namespace pagoda {

AveragedParameters::AveragedParameters(TowerGroup& towers, Step& step) : towers_(towers) {
  step.finish();
  const std::vector<at::Tensor> averages = step.updater().averages();
  if (averages.empty()) return;
  for (const auto& entry : towers.master().trainable)
    parameters_.push_back(entry.tensor.detach().clone());
  write(averages);
  ++towers.replicas()->use().stand_ins;
}

AveragedParameters::~AveragedParameters() {
  if (parameters_.empty()) return;
  try {
    if (towers_.usable()) write(parameters_);
    --towers_.replicas()->use().stand_ins;
  } catch (...) {
    // A card that has been lost, which its tower has reported. The averages stay where they are, and no
    // step may follow.
  }
}

void AveragedParameters::write(const std::vector<at::Tensor>& values) {
  at::NoGradGuard no_grad;
  const auto& masters = towers_.master().trainable;
  for (std::size_t i = 0; i < masters.size(); ++i) masters[i].tensor.copy_(values[i]);
  for (int tower = 0; tower < towers_.size(); ++tower) towers_.replicas()->copies().renew(tower);
}

}  // namespace pagoda
