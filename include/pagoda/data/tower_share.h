#pragma once

#include <cstddef>

namespace pagoda {

/// Which of the towers that train together are this process's. A number of towers stands for those
/// of a process that is alone.
struct TowerShare {
  /// So many towers, of a process that is alone.
  TowerShare(int towers) : own(towers), total(towers) {}  // NOLINT: a number stands for it
  /// Towers from `first_tower` on, of all those of several processes.
  TowerShare(int first_tower, int own_towers, int all_towers)
      : first(first_tower), own(own_towers), total(all_towers) {}

  int first = 0;  ///< of this process among all
  int own;        ///< towers of this process
  int total;      ///< towers of all processes

  /// Whether feed `feed` of a step belongs to one of the own towers: feed f is that of tower f mod
  /// `total`.
  bool has_feed(std::size_t feed) const {
    const auto tower = static_cast<int>(feed % static_cast<std::size_t>(total));
    return tower >= first && tower < first + own;
  }
};

}  // namespace pagoda
