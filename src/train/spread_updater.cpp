#include "train/spread_updater.h"

#include <utility>

namespace pagoda {
namespace {

class SpreadUpdater final : public Updater {
 public:
  SpreadUpdater(std::shared_ptr<World> world, std::unique_ptr<Updater> part)
      : world_(std::move(world)), part_(std::move(part)) {}

  void begin(const GradientView& gradients, const UpdateScalars& scalars) override {
    part_->begin(gradients, scalars);
  }
  void run_share(int share, int shares) override { part_->run_share(share, shares); }
  void end() override { part_->end(); }
  void set_rules(const std::vector<ParameterRule>& rules) override { part_->set_rules(rules); }
  double learning_rate(std::int64_t update) const override { return part_->learning_rate(update); }
  void load(const UpdaterState& state) override { part_->load(state); }

  UpdaterState state() const override {
    UpdaterState whole = part_->state();
    for (const auto& [name, tensor] : whole.optimizer) join(tensor);
    for (const at::Tensor& average : whole.averages) join(average);
    return whole;
  }

 private:
  /// Every element is one process's, and zero at the others. Counts are the same at all.
  void join(const at::Tensor& values) const {
    if (!values.is_floating_point()) return;
    const at::Tensor flat = values.contiguous();
    world_->sum(flat);
    if (!flat.is_same(values)) values.copy_(flat);
  }

  const std::shared_ptr<World> world_;
  const std::unique_ptr<Updater> part_;
};

}  // namespace

std::unique_ptr<Updater> spread_over(std::shared_ptr<World> world, std::unique_ptr<Updater> part) {
  return std::make_unique<SpreadUpdater>(std::move(world), std::move(part));
}

}  // namespace pagoda
