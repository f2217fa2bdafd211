#include "train/world_step.h"

#include <algorithm>
#include <utility>

#include <ATen/ops/_sparse_coo_tensor_unsafe.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include "optim/combined_gradient.h"
#include "params/gradient_visit.h"
#include "reduce/combine.h"
#include "train/step_parts.h"

namespace pagoda {
namespace {

using Form = ParameterGradient::Form;

/// That travel: a process without feeds does not know how many there are.
constexpr std::size_t kMostMetrics = 32;

/// The numbers of a step that are summed over all processes, in their order.
struct StepNumbers {
  enum : std::size_t {
    weight,
    loss,
    l2_scale,
    not_finite,
    stops,  // one for each reason
    metrics = stops + World::kStopReasons,
    forms = metrics + kMostMetrics
  };

  explicit StepNumbers(std::size_t parameters)
      : values(at::zeros({static_cast<std::int64_t>(forms + 2 * parameters)}, at::kDouble)),
        at(values.mutable_data_ptr<double>()) {}

  double& has_dense(std::size_t parameter) { return at[forms + 2 * parameter]; }
  double& has_rows(std::size_t parameter) { return at[forms + 2 * parameter + 1]; }

  at::Tensor values;
  double* at;
};

/// All values one after the other, in double.
at::Tensor joined(const std::vector<at::Tensor>& values) {
  std::vector<at::Tensor> flat{at::zeros({0}, at::kDouble)};
  for (const at::Tensor& one : values) flat.push_back(one.to(at::kDouble).reshape({-1}));
  return at::cat(flat);
}

/// Puts them back.
void divide(const at::Tensor& flat, const std::vector<at::Tensor>& values) {
  std::int64_t offset = 0;
  for (const at::Tensor& one : values) {
    one.copy_(flat.narrow(0, offset, one.numel()).view(one.sizes()));
    offset += one.numel();
  }
}

}  // namespace

WorldStep::WorldStep(std::shared_ptr<World> world, const std::vector<NamedTensor>& parameters)
    : world_(std::move(world)),
      parameters_(parameters),
      plan_(parameters),
      forms_(parameters.size(), Form::none),
      packed_(parameters.size()) {}

bool WorldStep::agree(StepResult& result, CombinedGradient& own, bool is_finite) {
  if (result.metrics.size() > kMostMetrics) {
    throw UsageError("the loss function gives " + std::to_string(result.metrics.size()) +
                     " metrics; several processes can agree on " + std::to_string(kMostMetrics));
  }
  StepNumbers numbers(parameters_.size());
  const double weight = result.weight;
  numbers.at[StepNumbers::weight] = weight;
  numbers.at[StepNumbers::not_finite] = is_finite ? 0 : 1;
  numbers.at[StepNumbers::loss] = result.loss * weight;
  numbers.at[StepNumbers::l2_scale] = own.l2_scale * weight;
  for (std::size_t i = 0; i < result.metrics.size(); ++i)
    numbers.at[StepNumbers::metrics + i] = result.metrics[i].second * weight;
  if (const int reason = world_->asked_to_stop(); reason > 0)
    numbers.at[StepNumbers::stops + static_cast<std::size_t>(reason) - 1] = 1;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    numbers.has_dense(i) = own.view.parameters[i].form == Form::dense;
    numbers.has_rows(i) = own.view.parameters[i].form == Form::rows;
  }
  world_->sum(numbers.values);

  const double total = numbers.at[StepNumbers::weight];
  if (!(total > 0)) {
    throw UsageError("step " + std::to_string(result.step) +
                     " got no sample in any process; leave such a step out");
  }
  part_ = weight / total;
  result.weight = total;
  result.loss = numbers.at[StepNumbers::loss] / total;
  own.l2_scale = numbers.at[StepNumbers::l2_scale] / total;
  for (std::size_t i = 0; i < result.metrics.size(); ++i)
    result.metrics[i].second = numbers.at[StepNumbers::metrics + i] / total;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    forms_[i] = numbers.has_dense(i) > 0  ? Form::dense
                : numbers.has_rows(i) > 0 ? Form::rows
                                          : Form::none;
  }
  for (int reason = World::kStopReasons; reason > 0; --reason) {
    if (numbers.at[StepNumbers::stops + static_cast<std::size_t>(reason) - 1] > 0)
      world_->agree_to_stop(reason);
  }
  place_dense();
  return numbers.at[StepNumbers::not_finite] == 0;
}

/// Gives every parameter that has a dense gradient anywhere its place in what travels.
void WorldStep::place_dense() {
  flat_.clear();
  for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
    std::int64_t elements = 0;
    const auto travels = [&](std::size_t i) {
      return forms_[i] == Form::dense && parameters_[i].tensor.scalar_type() == type;
    };
    for (std::size_t i = 0; i < parameters_.size(); ++i)
      elements += travels(i) ? parameters_[i].tensor.numel() : 0;
    if (elements == 0) continue;
    const at::Tensor flat = at::empty({elements}, type);
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      if (!travels(i)) continue;
      const at::Tensor& parameter = parameters_[i].tensor;
      packed_[i] = flat.as_strided(parameter.sizes(), parameter.strides(), offset);
      offset += parameter.numel();
    }
    flat_.push_back(flat);
  }
}

std::vector<double> WorldStep::own_weights(const GradientView& own) const {
  std::vector<double> weights = own.weights;
  for (double& weight : weights) weight *= part_;
  return weights;
}

template <class T>
void WorldStep::pack_block(const GradientView& own, const std::vector<double>& weights,
                           const Block& block) {
  const at::Tensor& parameter = parameters_[block.parameter].tensor;
  const ParameterGradient& gradient = own.parameters[block.parameter];
  T* to = packed_[block.parameter].mutable_data_ptr<T>();
  if (gradient.form == Form::none) std::fill(to + block.begin, to + block.end, T{0});
  visit_gradient<T>(gradient, weights, row_elements(parameter), block.begin, block.end, Sweep::all,
                    [to](std::int64_t offset, std::int64_t count, const T* values) {
                      std::copy_n(values, count, to + offset);
                    });
}

void WorldStep::pack_share(const GradientView& own, int share, int shares) {
  const std::vector<double> weights = own_weights(own);
  const auto [begin, end] = plan_.share(share, shares);
  for (std::size_t i = begin; i < end; ++i) {
    const Block& block = plan_.blocks()[i];
    if (forms_[block.parameter] != Form::dense) continue;
    if (parameters_[block.parameter].tensor.scalar_type() == at::kFloat) {
      pack_block<float>(own, weights, block);
    } else {
      pack_block<double>(own, weights, block);
    }
  }
}

GradientView WorldStep::exchange(const GradientView& own) {
  for (const at::Tensor& flat : flat_) world_->sum(flat);
  const std::vector<double> weights = own_weights(own);
  GradientView all{.weights = std::vector<double>(static_cast<std::size_t>(world_->size()), 1),
                   .parameters = {}};
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const at::Tensor parameter = parameters_[i].tensor.detach();
    if (forms_[i] == Form::rows) {
      all.parameters.push_back(exchange_rows(parameter, own.parameters[i], weights));
    } else if (forms_[i] == Form::dense) {
      all.parameters.push_back(
          {.form = Form::dense, .towers = {std::move(packed_[i])}, .touched = {}});
    } else {
      all.parameters.push_back({});
    }
  }
  return all;
}

/// Only rows travel.
ParameterGradient WorldStep::exchange_rows(const at::Tensor& parameter,
                                           const ParameterGradient& own,
                                           const std::vector<double>& weights) {
  const std::int64_t length = row_elements(parameter);
  CombinedRows rows{.numbers = at::empty({0}, at::kLong),
                    .values = at::empty({0, length}, parameter.scalar_type())};
  if (own.form == Form::rows)
    rows = combined_rows(own, weights, length, {0, parameter.numel()}, parameter.scalar_type());
  const std::vector<at::Tensor> numbers = world_->gather(rows.numbers);
  const std::vector<at::Tensor> values = world_->gather(rows.values.view({-1, length}));
  std::vector<at::Tensor> ranks;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i].numel() == 0) {
      ranks.emplace_back();
      continue;
    }
    std::vector<std::int64_t> shape = parameter.sizes().vec();
    shape[0] = numbers[i].numel();
    ranks.push_back(at::_sparse_coo_tensor_unsafe(numbers[i].unsqueeze(0), values[i].view(shape),
                                                  parameter.sizes())
                        ._coalesced_(true));
  }
  return combine(parameter, std::move(ranks));
}

void WorldStep::share_buffers(std::vector<BufferValue>& buffers) {
  if (buffers.empty()) return;
  std::vector<at::Tensor> means{
      at::zeros({static_cast<std::int64_t>(buffers.size())}, at::kDouble)};
  std::vector<at::Tensor> others;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    means[0][static_cast<std::int64_t>(i)] = buffers[i].changed ? 1.0 : 0.0;
    (buffers[i].is_mean ? means : others).push_back(buffers[i].value);
  }
  at::Tensor summed = joined(means);
  summed.narrow(0, means[0].numel(), summed.numel() - means[0].numel()).mul_(part_);
  world_->sum(summed);
  divide(summed, means);
  const at::Tensor first = joined(others);
  if (first.numel() > 0) world_->broadcast(first);
  divide(first, others);
  for (std::size_t i = 0; i < buffers.size(); ++i)
    buffers[i].changed = means[0][static_cast<std::int64_t>(i)].item<double>() > 0;
}

std::string WorldStep::first_text(const std::string& own_text) {
  const std::vector<std::string> texts = world_->gather(own_text);
  for (std::size_t rank = 0; rank < texts.size(); ++rank) {
    if (!texts[rank].empty()) return world_->name(static_cast<int>(rank)) + ": " + texts[rank];
  }
  return "";
}

}  // namespace pagoda
