#include "train/async_parameters.h"

#include <pagoda/base/error.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>

#include <ATen/core/grad_mode.h>

#include "base/patience.h"
#include "tower/parameter_copies.h"
#include "train/gradient_hook.h"

namespace pagoda {

AsyncParameters::AsyncParameters(std::shared_ptr<StepParts> parts, HostExchange& exchange,
                                 std::optional<std::int64_t> max_staleness)
    : parts_(std::move(parts)),
      replicas_(*parts_->replicas),
      exchange_(exchange),
      max_staleness_(max_staleness),
      plan_(replicas_.master().trainable),
      state_(static_cast<std::size_t>(replicas_.size())) {
  for (int number = 0; number < replicas_.size(); ++number) {
    Tower& own = tower(number);
    own.values = replicas_.table(number).trainable;
    if (!on_cpu(number)) {  // what a card reads passes through here, so that nobody waits for it
      for (auto& entry : own.values)
        entry.tensor = entry.tensor.detach().to(at::kCPU, entry.tensor.scalar_type(),
                                                /*non_blocking=*/false, /*copy=*/true);
    }
    own.norm.emplace(own.values);
    exchange_.set_values(number, own.values);
  }
}

/// Takes a tower's offer back, before what it points to ends.
class AsyncParameters::Withdrawal {
 public:
  explicit Withdrawal(Tower& own) : own_(own) {}
  ~Withdrawal() { own_.pass = nullptr; }
  Withdrawal(const Withdrawal&) = delete;
  Withdrawal& operator=(const Withdrawal&) = delete;

 private:
  Tower& own_;
};

bool AsyncParameters::on_cpu(int number) const {
  return replicas_.device(number).kind == DeviceKind::cpu;
}

void AsyncParameters::read(int number) {
  Tower& own = tower(number);
  {
    const std::lock_guard lock(mutex_);
    own.computing = true;
    if (own.version == version_) return;  // it has them since its last update
    copy_all(own);
    own.version = version_;
  }
  renew(number);
}

AsyncParameters::Outcome AsyncParameters::write(int number, const TowerPass& pass,
                                                const UpdateNumber& update_number) {
  Tower& own = tower(number);
  std::optional<double> norm;  // a hook may still change the gradient
  if (!parts_->options.on_gradient) {
    norm = measure(*own.norm, exchange_.view({pass.clip.factor / pass.scale}, {number}),
                   pass.clip.factor);
  }
  Patience patience(replicas_.options().timeout);
  Outcome outcome;
  {
    std::unique_lock lock(mutex_);
    own.outcome = {.grad_norm = norm};
    own.pass = &pass;
    const Withdrawal at_the_end(own);
    while (own.pass != nullptr) {  // it is null once another tower has taken it into its update
      if (stopping_) return {.dropped = true};
      if (const auto group = ready_group(number)) {
        update(update_number, *group, number);
      } else if (!patience.wait(changed_, lock)) {
        throw DeviceError("towers whose gradients would become too old did not finish within " +
                          std::to_string(replicas_.options().timeout.count()) +
                          " ms; raise the timeout or the largest staleness");
      }
    }
    if (own.version != version_) copy_all(own);
    own.version = version_;
    own.computing = false;
    outcome = own.outcome;
  }
  changed_.notify_all();
  return outcome;
}

void AsyncParameters::renew(int number) {
  if (on_cpu(number)) return;  // its copy is what it computes with
  at::NoGradGuard no_grad;
  const auto& own = replicas_.table(number).trainable;
  for (std::size_t i = 0; i < own.size(); ++i)
    own[i].tensor.copy_(tower(number).values[i].tensor, /*non_blocking=*/true);
}

void AsyncParameters::leave(int number) {
  {
    const std::lock_guard lock(mutex_);
    tower(number).computing = false;
  }
  changed_.notify_all();
}

void AsyncParameters::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
}

void AsyncParameters::restart() {
  const std::lock_guard lock(mutex_);
  stopping_ = false;
}

void AsyncParameters::forget_copies() {
  const std::lock_guard lock(mutex_);
  for (Tower& one : state_) one.version = -1;
}

std::vector<double> AsyncParameters::take_weights() {
  const std::lock_guard lock(mutex_);
  std::vector<double> weights;
  for (Tower& one : state_) weights.push_back(std::exchange(one.weight, 0));
  return weights;
}

/// Who makes one update with the tower: those that would be too old after it. Nothing while one of
/// them is still computing.
std::optional<std::vector<int>> AsyncParameters::ready_group(int number) const {
  std::vector<int> group;
  for (int i = 0; i < replicas_.size(); ++i) {
    const Tower& other = state_[static_cast<std::size_t>(i)];
    const bool too_old =
        max_staleness_ && other.computing && version_ + 1 - other.version > *max_staleness_;
    if (i != number && !too_old) continue;
    if (other.pass == nullptr) return std::nullopt;
    group.push_back(i);  // in tower order, so that sums do not depend on who came first
  }
  return group;
}

void AsyncParameters::update(const UpdateNumber& number, const std::vector<int>& group,
                             int leader) {
  CombinedGradient gradient = combined(group);
  const GradientHook& hook = parts_->options.on_gradient;
  GradientNorm& norm = *tower(leader).norm;
  bool finite = true;
  if (parts_->measures_before_hook()) {
    norm.run_share(gradient.view, parts_->scaled_l2(gradient.l2_scale), 0, 1);
    finite = std::isfinite(norm.norm());
  }
  if (finite && hook) gradient.view = after_hook(hook, replicas_.master().trainable, gradient.view);
  gradient.norm = group.size() == 1 && !hook ? tower(leader).outcome.grad_norm
                                             : measure(norm, gradient.view, gradient.l2_scale);
  const bool skipped = !finite || !parts_->clip(gradient);
  const bool overflowed = skipped && overflow_of(group);
  if (skipped && !overflowed && parts_->options.on_non_finite == NonFinite::stop)
    throw DataError(kNonFiniteNorm);
  if (!skipped) {
    parts_->updater->begin(gradient.view, {.update = number.step,
                                           .learning_rate = number.learning_rate * damping(group),
                                           .l2_scale = gradient.l2_scale});
    run_updater(tower(leader));
  }
  for (const int i : group) {
    Tower& one = tower(i);
    one.outcome = {.staleness = version_ - one.version,
                   .grad_norm = gradient.norm,
                   .skipped = skipped,
                   .overflowed = overflowed};
    if (!skipped) one.weight += one.pass->weight;
    if (!skipped && parts_->loss_scaler) parts_->loss_scaler->note_update(one.pass->scale);
    one.pass = nullptr;
  }
  if (skipped) return;
  ++version_;
  tower(leader).version = version_;
}

/// The gradients of these towers, by the weights of what they have computed.
CombinedGradient AsyncParameters::combined(const std::vector<int>& group) {
  double total = 0;
  for (const int i : group) total += tower(i).pass->weight;
  std::vector<double> weights;
  CombinedGradient gradient;
  for (const int i : group) {
    const TowerPass& pass = *tower(i).pass;
    const double weight = pass.clip.factor * (pass.weight / total);
    weights.push_back(weight / pass.scale);
    gradient.l2_scale += weight;
  }
  gradient.view = exchange_.view(weights, group);
  return gradient;
}

/// Whether a gradient of theirs that is not finite is an overflow: any of them may be the reason.
bool AsyncParameters::overflow_of(const std::vector<int>& group) {
  bool overflowed = false;
  for (const int i : group)
    overflowed |= parts_->note_overflow(NotFinite::gradient, tower(i).pass->scale);
  return overflowed;
}

/// What an old gradient counts: N towers make N updates where a synchronous step makes one, each
/// about N - 1 updates old; undamped, their steps add up and overshoot (Zhang, Gupta, Lian and Liu,
/// "Staleness-aware async-SGD for distributed deep learning", IJCAI 2016).
double AsyncParameters::damping(const std::vector<int>& group) const {
  std::int64_t oldest = version_;
  for (const int i : group) oldest = std::min(oldest, state_[static_cast<std::size_t>(i)].version);
  return 1.0 / static_cast<double>(1 + version_ - oldest);
}

/// Block by block, and each block goes into the leader's copy while it is in the cache.
void AsyncParameters::run_updater(Tower& leader) {
  Updater& updater = *parts_->updater;
  const int shares = std::max(1, static_cast<int>(plan_.blocks().size()));
  for (int share = 0; share < shares; ++share) {
    updater.run_share(share, shares);
    if (!updater.changes_by_blocks()) continue;
    const auto [begin, end] = plan_.share(share, shares);
    for (std::size_t i = begin; i < end; ++i) copy_block(plan_.blocks()[i], leader);
  }
  updater.end();
  if (!updater.changes_by_blocks()) copy_all(leader);
}

std::optional<double> AsyncParameters::measure(GradientNorm& norm, const GradientView& view,
                                               double l2_scale) const {
  if (!parts_->measures_norm()) return std::nullopt;
  norm.run_share(view, parts_->scaled_l2(l2_scale), 0, 1);
  return norm.norm();
}

void AsyncParameters::copy_block(const Block& block, Tower& own) const {
  const at::Tensor& from = replicas_.master().trainable[block.parameter].tensor;
  const at::Tensor& to = own.values[block.parameter].tensor;
  const auto size = static_cast<std::int64_t>(from.element_size());
  std::memcpy(static_cast<char*>(to.data_ptr()) + block.begin * size,
              static_cast<const char*>(from.const_data_ptr()) + block.begin * size,
              static_cast<std::size_t>((block.end - block.begin) * size));
}

void AsyncParameters::copy_all(Tower& own) const {
  for (const Block& block : plan_.blocks()) copy_block(block, own);
}

}  // namespace pagoda
