#include "run/tower_watch.h"

namespace pagoda {

TowerWatch::TowerWatch(const TowerGroup& towers, const Stages* stages, LogPlacement log_placement)
    : towers_(towers), stages_(stages) {
  if (log_placement == LogPlacement::yes) placement_.emplace();
}

template <class Get>
auto TowerWatch::by_device(Get get) const {
  std::vector<decltype(get(0, 0))> all;
  for (int tower = 0; tower < towers_.size(); ++tower) {
    for (int stage = 0; stage < (stages_ ? stages_->count() : 1); ++stage)
      all.push_back(get(tower, stage));
  }
  return all;
}

std::vector<Device> TowerWatch::devices() const {
  return by_device([this](int tower, int stage) {
    return stages_ ? stages_->device(tower, stage) : towers_.device(tower);
  });
}

std::vector<std::string> TowerWatch::names() const {
  return by_device([this](int tower, int stage) {
    return "tower_" + std::to_string(tower) + (stages_ ? "_stage_" + std::to_string(stage) : "");
  });
}

std::vector<MemoryUse> TowerWatch::memory() const {
  return by_device([this](int tower, int stage) {
    return stage == 0 ? towers_.memory().use(tower) : stages_->memory(tower, stage);
  });
}

std::vector<std::string> TowerWatch::new_operators() {
  std::vector<std::string> lines;
  if (!placement_) return lines;
  const auto operators = placement_->operators();
  for (; told_ < operators.size(); ++told_)
    lines.push_back("placement: " + operators[told_].text());
  return lines;
}

}  // namespace pagoda
