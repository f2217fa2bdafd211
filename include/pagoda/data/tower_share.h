#pragma once

#include <cstddef>

namespace pagoda {

/// Which of the towers that train together belong to this process. A plain number of towers
/// converts to it, and means that they are all in this process.
struct TowerShare {
  /// All towers are in this process.
  TowerShare(int towers) : own(towers), total(towers) {}  // NOLINT: implicit on purpose
  /// This process has `own_towers` of the `all_towers` of several processes, from `first_tower` on.
  TowerShare(int first_tower, int own_towers, int all_towers)
      : first(first_tower), own(own_towers), total(all_towers) {}

  int first = 0;  ///< number of this process's first tower among all
  int own;        ///< towers of this process
  int total;      ///< towers of all processes

  /// Whether feed `feed` of a step belongs to a tower of this process: feed f is for tower f mod
  /// `total`.
  bool has_feed(std::size_t feed) const {
    const auto tower = static_cast<int>(feed % static_cast<std::size_t>(total));
    return tower >= first && tower < first + own;
  }
};

}  // namespace pagoda
