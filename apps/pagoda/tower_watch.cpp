#include "tower_watch.h"

namespace pagoda::app {

TowerWatch::TowerWatch(const TowerGroup& towers, LogPlacement log_placement) : towers_(towers) {
  if (log_placement == LogPlacement::yes) placement_.emplace();
}

std::vector<Device> TowerWatch::devices() const {
  std::vector<Device> devices;
  for (int tower = 0; tower < towers_.size(); ++tower) devices.push_back(towers_.device(tower));
  return devices;
}

std::vector<MemoryUse> TowerWatch::memory() const {
  std::vector<MemoryUse> uses;
  for (int tower = 0; tower < towers_.size(); ++tower) uses.push_back(towers_.memory(tower));
  return uses;
}

std::vector<std::string> TowerWatch::new_operators() {
  std::vector<std::string> lines;
  if (!placement_) return lines;
  const auto operators = placement_->operators();
  for (; told_ < operators.size(); ++told_)
    lines.push_back("placement: " + operators[told_].text());
  return lines;
}

}  // namespace pagoda::app
