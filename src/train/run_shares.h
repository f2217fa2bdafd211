#pragma once

#include <pagoda/tower/tower_group.h>

#include <functional>

namespace pagoda {

/// Runs the tower's part of work(share, shares), which all towers divide among them.
using RunShares = std::function<void(const TowerJob& job,
                                     const std::function<void(int share, int shares)>& work)>;

/// One share for each tower.
inline RunShares one_share_a_tower(int towers) {
  return [towers](const TowerJob& job, const std::function<void(int, int)>& work) {
    work(job.tower, towers);
  };
}

}  // namespace pagoda
