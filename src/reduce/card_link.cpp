#include "reduce/card_link.h"

namespace pagoda {

std::unique_ptr<CardLink> make_card_link(const Replicas& replicas) {
  const DeviceKind kind = replicas.device(0).kind;
  for (int tower = 1; tower < replicas.size(); ++tower) {
    if (replicas.device(tower).kind != kind) return nullptr;
  }
  if (replicas.size() == 1 || kind == DeviceKind::cpu) return nullptr;
  return kind == DeviceKind::sim ? make_sim_link(replicas) : make_nccl_link(replicas);
}

}  // namespace pagoda
