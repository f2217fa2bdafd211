#include "train/world_step.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include "tower/parameter_copies.h"
#include "train/pack_block.h"
#include "train/step_parts.h"

namespace pagoda {
namespace {

using Form = ParameterGradient::Form;

/// That travel: a process without feeds does not know how many there are.
constexpr std::size_t kMostMetrics = 32;

/// What a process tells the others of its step.
struct StepNumbers {
  enum : std::size_t {
    weight,
    loss,
    l2_scale,
    loss_not_finite,
    gradient_not_finite,
    stops,  // one for each reason
    metrics = stops + World::kStopReasons,
    parameters = metrics + kMostMetrics,
  };
  enum : std::size_t { dense, rows, unfit, kinds };  // of each parameter

  static std::size_t count(std::size_t parameter_count) {
    return parameters + kinds * parameter_count;
  }
  static std::size_t of(std::size_t parameter, std::size_t kind) {
    return parameters + kinds * parameter + kind;
  }
};

std::span<double> numbers_in(const at::Tensor& tensor) {
  return {tensor.mutable_data_ptr<double>(), static_cast<std::size_t>(tensor.numel())};
}

/// All values one after the other, in double.
at::Tensor joined(const std::vector<at::Tensor>& values) {
  std::vector<at::Tensor> flat;
  for (const at::Tensor& one : values) flat.push_back(one.to(at::kDouble).reshape({-1}));
  return at::cat(flat);
}

std::vector<at::Tensor> lost_of(const WorldSum& sum, std::size_t parameters) {
  std::vector<at::Tensor> lost;
  for (std::size_t i = 0; i < parameters; ++i) lost.push_back(sum.lost(i));
  return lost;
}

}  // namespace

WorldStep::WorldStep(const StepOptions& options, std::shared_ptr<const Replicas> replicas,
                     std::shared_ptr<const WorldShare> share)
    : world_(options.world),
      replicas_(std::move(replicas)),
      parameters_(replicas_->copies().layout().trainable),
      share_(std::move(share)),
      sum_(world_, parameters_, options.wire, share_.get()),
      row_exchange_(world_, parameters_, options.wire, lost_of(sum_, parameters_.size())),
      meeting_(options.local_steps.every == 1
                   ? nullptr
                   : std::make_unique<Meeting>(options.local_steps, parameters_, world_, sum_)),
      expected_(sum_.buckets().size()),
      travels_(sum_.buckets().size()),
      forms_(parameters_.size(), Form::none),
      rows_(parameters_.size()) {
  check(options.local_steps);
  const auto& devices = replicas_->devices();
  const bool on_cpu = std::all_of(devices.begin(), devices.end(), [](const Device& device) {
    return device.torch_device().is_cpu();
  });
  if (on_cpu && !options.max_tower_grad_norm && world_->size() > 1 && !meeting_)
    early_ = std::make_unique<EarlyGradients>(replicas_, sum_);
}

void WorldStep::begin(const std::vector<double>& tower_weights, std::vector<char> parameters,
                      double scale) {
  own_weight_ = std::accumulate(tower_weights.begin(), tower_weights.end(), 0.0);
  if (!early_) return;
  EarlyGradients::Plan plan{.towers = {},
                            .parameters = std::move(parameters),
                            .buckets = expected_,
                            .weight = own_weight_ / scale};
  for (const double weight : tower_weights) plan.towers.push_back(weight > 0 ? 1 : 0);
  early_->begin(std::move(plan));
}

void WorldStep::last_backward(int tower) {
  if (early_) early_->last_backward(tower);
}

/// The numbers of this process.
at::Tensor WorldStep::told(const StepResult& result, const CombinedGradient& own,
                           NotFinite found) const {
  using N = StepNumbers;
  at::Tensor told =
      at::zeros({static_cast<std::int64_t>(N::count(parameters_.size()))}, at::kDouble);
  const std::span<double> numbers = numbers_in(told);
  const double weight = result.weight;
  numbers[N::weight] = weight;
  numbers[N::loss_not_finite] = found == NotFinite::loss;
  numbers[N::gradient_not_finite] = found == NotFinite::gradient;
  numbers[N::loss] = result.loss * weight;
  numbers[N::l2_scale] = own.l2_scale * weight;
  for (std::size_t i = 0; i < result.metrics.size(); ++i)
    numbers[N::metrics + i] = result.metrics[i].second * weight;
  if (const int reason = world_->asked_to_stop(); reason > 0)
    numbers[N::stops + static_cast<std::size_t>(reason) - 1] = 1;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const ParameterGradient& gradient = own.view.parameters[i];
    numbers[N::of(i, N::dense)] = gradient.form == Form::dense;
    numbers[N::of(i, N::rows)] = static_cast<double>(gradient.touched.size());
    numbers[N::of(i, N::unfit)] = early_ && !early_->finished_once(i);
  }
  return told;
}

NotFinite WorldStep::agree(StepResult& result, CombinedGradient& own, NotFinite found) {
  using N = StepNumbers;
  if (result.metrics.size() > kMostMetrics) {
    throw UsageError("the loss function gives " + std::to_string(result.metrics.size()) +
                     " metrics; several processes can agree on " + std::to_string(kMostMetrics));
  }
  const std::vector<at::Tensor> all = world_->gather_equal(told(result, own, found));
  std::vector<double> sums(N::count(parameters_.size()));
  for (const at::Tensor& one : all) {
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += numbers_in(one)[i];
  }
  total_weight_ = sums[N::weight];
  if (!(total_weight_ > 0)) {
    throw UsageError("step " + std::to_string(result.step) +
                     " got no sample in any process; leave such a step out");
  }
  result.weight = total_weight_;
  result.loss = sums[N::loss] / total_weight_;
  own.l2_scale = sums[N::l2_scale] / total_weight_;
  for (std::size_t i = 0; i < result.metrics.size(); ++i)
    result.metrics[i].second = sums[N::metrics + i] / total_weight_;
  for (int reason = World::kStopReasons; reason > 0; --reason) {
    if (sums[N::stops + static_cast<std::size_t>(reason) - 1] > 0) world_->agree_to_stop(reason);
  }
  learn_forms(all, sums);
  if (sums[N::loss_not_finite] > 0) return NotFinite::loss;
  return sums[N::gradient_not_finite] > 0 ? NotFinite::gradient : NotFinite::nothing;
}

/// Which parameters have gradients anywhere, and how many rows each process has.
void WorldStep::learn_forms(const std::vector<at::Tensor>& all, const std::vector<double>& sums) {
  using N = StepNumbers;
  std::vector<char> fit;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    forms_[i] = sums[N::of(i, N::dense)] > 0  ? Form::dense
                : sums[N::of(i, N::rows)] > 0 ? Form::rows
                                              : Form::none;
    rows_[i].clear();
    for (const at::Tensor& one : all) {
      if (forms_[i] == Form::rows)
        rows_[i].push_back(static_cast<std::int64_t>(numbers_in(one)[N::of(i, N::rows)]));
    }
    fit.push_back(forms_[i] == Form::dense && sums[N::of(i, N::unfit)] == 0);
  }
  plan_next(fit);
}

/// By name, in the memory that it is kept in.
std::vector<NamedTensor> WorldStep::kept() const {
  std::vector<NamedTensor> named;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (sum_.lost(i).defined()) named.push_back({"lost/" + parameters_[i].name, sum_.lost(i)});
  }
  if (!meeting_) return named;
  for (NamedTensor& one : meeting_->state()) named.push_back(std::move(one));
  return named;
}

std::vector<NamedTensor> WorldStep::state() {
  std::vector<NamedTensor> named = kept();
  for (NamedTensor& one : named) {
    if (!one.name.starts_with("lost/")) {
      one.tensor = one.tensor.clone();
      continue;
    }
    // What processes still have to send comes together at rank 0, which will send it.
    const at::Tensor sum = one.tensor.contiguous().clone();
    world_->sum(sum);
    world_->rank() == 0 ? one.tensor.copy_(sum) : one.tensor.zero_();
    one.tensor = sum;
  }
  return named;
}

void WorldStep::load(const std::vector<NamedTensor>& state) {
  for (const NamedTensor& own : kept()) {
    own.tensor.zero_();
    const auto found = std::find_if(state.begin(), state.end(), [&](const NamedTensor& one) {
      return one.name == own.name && one.tensor.sizes() == own.tensor.sizes();
    });
    const bool is_here = !own.name.starts_with("lost/") || world_->rank() == 0;
    if (found != state.end() && is_here) own.tensor.copy_(found->tensor);
  }
}

/// Which buckets travel in this step, and which of them may leave early in the next: all processes
/// come to the same.
void WorldStep::plan_next(const std::vector<char>& fit) {
  const auto& buckets = sum_.buckets();
  for (std::size_t b = 0; b < buckets.size(); ++b) {
    const auto& blocks = buckets[b].blocks;
    const bool dense = std::any_of(blocks.begin(), blocks.end(), [&](const Block& block) {
      return forms_[block.parameter] == Form::dense;
    });
    travels_[b] = expected_[b] != 0 || dense;
    expected_[b] = std::all_of(blocks.begin(), blocks.end(),
                               [&](const Block& block) { return fit[block.parameter] != 0; });
  }
}

/// What has been sent early is left alone.
bool WorldStep::leaves_now(std::size_t bucket) const {
  return travels_[bucket] != 0 && !(early_ && early_->has_left(bucket));
}

std::vector<double> WorldStep::own_weights(const GradientView& own) const {
  std::vector<double> weights = own.weights;
  for (double& weight : weights) weight *= own_weight_;
  return weights;
}

void WorldStep::pack_share(const GradientView& own, int share, int shares) {
  const std::vector<double> weights = own_weights(own);
  const auto& buckets = sum_.buckets();
  for (auto b = static_cast<std::size_t>(share); b < buckets.size();
       b += static_cast<std::size_t>(shares)) {
    if (!leaves_now(b)) continue;
    for (const Block& block : buckets[b].blocks)
      pack_block(own.parameters[block.parameter], weights, block, sum_.place(block.parameter));
    sum_.send(b);
  }
}

GradientView WorldStep::exchange(const GradientView& own) {
  GradientView all{
      .weights = std::vector<double>(static_cast<std::size_t>(world_->size()), 1 / total_weight_),
      .parameters = std::vector<ParameterGradient>(parameters_.size())};
  row_exchange_.run(own, own_weights(own), rows_, all);
  sum_.finish();
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (own.parameters[i].form == Form::summed)
      all.parameters[i] = own.parameters[i];  // over all processes already
    else if (forms_[i] == Form::dense)
      all.parameters[i] = {.form = Form::dense, .towers = {sum_.place(i)}, .touched = {}};
  }
  if (early_) early_->end();
  return all;
}

double WorldStep::sum_of_parts(const std::vector<double>& by_block) {
  const at::Tensor own = at::empty({static_cast<std::int64_t>(by_block.size())}, at::kDouble);
  std::copy(by_block.begin(), by_block.end(), own.mutable_data_ptr<double>());
  const at::Tensor all = at::zeros_like(own);
  for (const at::Tensor& one : world_->gather_equal(own)) all.add_(one);  // each has other blocks
  const std::span<double> blocks = numbers_in(all);
  return std::accumulate(blocks.begin(), blocks.end(), 0.0);
}

double WorldStep::of_first(double own) {
  const at::Tensor number = at::full({1}, own, at::kDouble);
  world_->broadcast(number);
  return number.item<double>();
}

void WorldStep::share_buffers(std::vector<BufferValue>& buffers, double own_weight) {
  if (buffers.empty()) return;
  const auto count = static_cast<std::int64_t>(buffers.size());
  std::vector<at::Tensor> told{
      at::zeros({1 + count}, at::kDouble)};  // weight, and what has changed
  told[0][0] = own_weight;
  for (std::int64_t i = 0; i < count; ++i) {
    const BufferValue& one = buffers[static_cast<std::size_t>(i)];
    told[0][1 + i] = one.changed ? 1.0 : 0.0;
    told.push_back(one.value);
  }
  const std::vector<at::Tensor> all = world_->gather_equal(joined(told));
  const at::Tensor mean = at::zeros_like(all.front());
  double total = 0;
  for (const at::Tensor& one : all) total += one[0].item<double>();
  const at::Tensor changed = at::zeros({count}, at::kDouble);
  for (const at::Tensor& one : all) {
    const double weight = one[0].item<double>();
    if (weight > 0) mean.add_(one, weight / total);
    changed.add_(one.narrow(0, 1, count));
  }
  std::int64_t offset = 1 + count;
  for (std::int64_t i = 0; i < count; ++i) {
    BufferValue& one = buffers[static_cast<std::size_t>(i)];
    const at::Tensor& source = one.is_mean ? mean : all.front();
    one.value.copy_(source.narrow(0, offset, one.value.numel()).view(one.value.sizes()));
    one.changed = changed[i].item<double>() > 0;
    offset += one.value.numel();
  }
}

std::string WorldStep::first_text(const std::string& own_text) {
  const std::vector<std::string> texts = world_->gather(own_text);
  for (std::size_t rank = 0; rank < texts.size(); ++rank) {
    if (!texts[rank].empty()) return world_->name(static_cast<int>(rank)) + ": " + texts[rank];
  }
  return "";
}

}  // namespace pagoda
