#include "reduce/card_link.h"

namespace pagoda {

std::unique_ptr<CardLink> make_card_link(const TowerGroup& towers) {
  const DeviceKind kind = towers.device(0).kind;
  for (int tower = 1; tower < towers.size(); ++tower) {
    if (towers.device(tower).kind != kind) return nullptr;
  }
  if (towers.size() == 1 || kind == DeviceKind::cpu) return nullptr;
  return kind == DeviceKind::sim ? make_sim_link(towers) : make_nccl_link(towers);
}

}  // namespace pagoda
