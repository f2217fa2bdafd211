#include "reduce/card_link.h"

#include <pagoda/base/error.h>

#include <string>

namespace pagoda {

void check_card_values(const at::Tensor& values) {
  switch (values.scalar_type()) {
    case at::kFloat:
    case at::kDouble:
    case at::kHalf:
    case at::kBFloat16:
      return;
    default:
      throw UsageError(std::string("cards cannot sum values of type ") +
                       c10::toString(values.scalar_type()) + "; place parameters host");
  }
}

std::unique_ptr<CardLink> make_card_link(const Replicas& replicas) {
  const DeviceKind kind = replicas.device(0).kind;
  for (int tower = 1; tower < replicas.size(); ++tower) {
    if (replicas.device(tower).kind != kind) return nullptr;
  }
  if (replicas.size() == 1 || kind == DeviceKind::cpu) return nullptr;
  return kind == DeviceKind::sim ? make_sim_link(replicas) : make_nccl_link(replicas);
}

}  // namespace pagoda
