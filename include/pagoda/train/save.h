#pragma once

#include <pagoda/checkpoint/state_dict.h>
#include <pagoda/tower/tower_group.h>

#include <filesystem>

namespace pagoda {

/// Writes the towers' weights, which are the same on all of them, as a state dict; see
/// save_state_dict. Call Step::finish first where updates may be under way.
inline void save(const TowerGroup& towers, const std::filesystem::path& path) {
  save_state_dict(towers.module(0), path);
}

}  // namespace pagoda
