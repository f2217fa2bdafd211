#include "optim/part_updater.h"

#include "optim/optimizer_pass.h"

namespace pagoda {
namespace {

class JoinedUpdater final : public Updater {
 public:
  JoinedUpdater(std::vector<std::unique_ptr<PartUpdater>> updaters, Joined joined)
      : updaters_(std::move(updaters)), joined_(joined) {}

  void begin(const GradientView& gradients, const UpdateScalars& scalars) override {
    for (const auto& updater : updaters_) updater->begin(gradients, scalars);
  }
  void run_share(int share, int /*shares*/) override {
    updaters_[static_cast<std::size_t>(share)]->run_share(0, 1);
  }
  void end() override {
    for (const auto& updater : updaters_) updater->end();
  }
  void set_rules(const std::vector<ParameterRule>& rules) override {
    for (const auto& updater : updaters_) updater->set_rules(rules);
  }
  double learning_rate(std::int64_t update) const override {
    return updaters_.front()->learning_rate(update);
  }
  UpdaterState state() const override {
    UpdaterState whole = updaters_.front()->state();
    if (joined_ == Joined::copies) return whole;
    for (std::size_t i = 1; i < updaters_.size(); ++i) updaters_[i]->write_to(whole);
    return whole;
  }
  void load(const UpdaterState& state) override {
    for (const auto& updater : updaters_) updater->load(state);
  }

 private:
  const std::vector<std::unique_ptr<PartUpdater>> updaters_;
  const Joined joined_;
};

}  // namespace

std::unique_ptr<PartUpdater> make_part_updater(const std::vector<NamedTensor>& parameters,
                                               const OptimizerOptions& optimizer,
                                               const UpdateOptions& options, UpdatePart part) {
  const bool on_cpu = parameters.empty() || parameters.front().tensor.is_cpu();
  return on_cpu ? make_fused_part(parameters, optimizer, options, part)
                : make_device_part(parameters, optimizer, options, part);
}

std::unique_ptr<Updater> join_updaters(std::vector<std::unique_ptr<PartUpdater>> updaters,
                                       Joined joined) {
  return std::make_unique<JoinedUpdater>(std::move(updaters), joined);
}

}  // namespace pagoda
