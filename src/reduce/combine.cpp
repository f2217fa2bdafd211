#include "reduce/combine.h"

#include <algorithm>
#include <numeric>

#include <ATen/ops/empty_like.h>

#include "params/block_plan.h"
#include "tower/parameter_copies.h"

namespace pagoda {
namespace {

/// Rows can be visited one by one only where each lies in one piece in the parameter's memory.
bool has_rows(const at::Tensor& parameter, const at::Tensor& gradient) {
  return gradient.is_sparse() && gradient.sparse_dim() == 1 && parameter.is_contiguous();
}

at::Tensor dense(const at::Tensor& parameter, const at::Tensor& gradient) {
  if (!gradient.defined() || !gradient.is_sparse()) return gradient;
  return in_layout_of(parameter, gradient.to_dense());
}

/// Merges the towers' sorted row lists into one.
std::vector<TouchedRow> merge_rows(const at::Tensor& parameter,
                                   const std::vector<at::Tensor>& towers) {
  struct Entry {
    std::int64_t row;
    TouchedRow::Share share;
  };
  std::vector<Entry> entries;
  const std::int64_t row_bytes =
      row_elements(parameter) * static_cast<std::int64_t>(parameter.element_size());
  for (std::size_t tower = 0; tower < towers.size(); ++tower) {
    if (!towers[tower].defined()) continue;
    const at::Tensor indices = towers[tower].indices();
    const char* values = static_cast<const char*>(towers[tower].values().const_data_ptr());
    for (std::int64_t i = 0; i < indices.size(1); ++i) {
      entries.push_back({indices.const_data_ptr<std::int64_t>()[i],
                         {static_cast<int>(tower), values + i * row_bytes}});
    }
  }
  // Stable: entries of one row stay in tower order.
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& a, const Entry& b) { return a.row < b.row; });
  std::vector<TouchedRow> rows;
  for (const auto& [row, share] : entries) {
    if (rows.empty() || rows.back().row != row) rows.push_back({row, {}});
    rows.back().shares.push_back(share);
  }
  return rows;
}

}  // namespace

at::Tensor in_layout_of(const at::Tensor& parameter, at::Tensor gradient) {
  if (has_rows(parameter, gradient)) {
    gradient = gradient.to(at::kCPU).coalesce();
    const at::Tensor values = gradient.values();
    if (values.is_contiguous()) return gradient;
    return at::_sparse_coo_tensor_unsafe(gradient.indices(), values.contiguous(), gradient.sizes())
        ._coalesced_(true);
  }
  if (gradient.is_sparse()) gradient = gradient.to_dense();
  if (gradient.is_cpu() && gradient.strides() == parameter.strides()) return gradient;
  return at::empty_like(parameter.detach()).copy_(gradient);
}

ParameterGradient combine(const at::Tensor& parameter, std::vector<at::Tensor> towers) {
  ParameterGradient gradient{
      .form = ParameterGradient::Form::none, .towers = std::move(towers), .touched = {}};
  const auto has = [&](auto property) {
    return std::any_of(gradient.towers.begin(), gradient.towers.end(),
                       [&](const at::Tensor& one) { return one.defined() && property(one); });
  };
  if (has([](const at::Tensor& one) { return !one.is_sparse() && !one.is_cpu(); })) {
    gradient.form = ParameterGradient::Form::summed;
  } else if (has([](const at::Tensor& one) { return !one.is_sparse(); })) {
    gradient.form = ParameterGradient::Form::dense;
    for (auto& one : gradient.towers) one = dense(parameter, one);
  } else if (has([](const at::Tensor&) { return true; })) {
    gradient.form = ParameterGradient::Form::rows;
    gradient.touched = merge_rows(parameter, gradient.towers);
  }
  return gradient;
}

GradientCollector::GradientCollector(std::shared_ptr<const Replicas> replicas, Gradients gradients)
    : replicas_(std::move(replicas)),
      summed_(gradients == Gradients::summed_on_cards),
      collected_(static_cast<std::size_t>(replicas_->size()),
                 std::vector<at::Tensor>(replicas_->copies().layout().trainable.size())) {}

void GradientCollector::collect(int tower) {
  const auto& parameters = replicas_->table(tower).trainable;
  const auto& masters = replicas_->copies().layout().trainable;
  auto& gradients = collected_[static_cast<std::size_t>(tower)];
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    at::Tensor gradient = std::move(parameters[i].tensor.mutable_grad());
    parameters[i].tensor.mutable_grad().reset();
    const bool stays = summed_ && gradient.defined() && !gradient.is_sparse();
    if (gradient.defined() && !stays) gradient = in_layout_of(masters[i].tensor, gradient.detach());
    gradients[i] = std::move(gradient);
  }
}

GradientView GradientCollector::view(const std::vector<double>& weights,
                                     const std::vector<int>& towers) const {
  const auto& masters = replicas_->copies().layout().trainable;
  GradientView view{.weights = weights, .parameters = {}};
  for (std::size_t i = 0; i < masters.size(); ++i) {
    std::vector<at::Tensor> gradients;
    for (const int tower : towers)
      gradients.push_back(collected_[static_cast<std::size_t>(tower)][i]);
    view.parameters.push_back(combine(masters[i].tensor, std::move(gradients)));
  }
  return view;
}

GradientView GradientCollector::view(const std::vector<double>& weights) const {
  std::vector<int> all(collected_.size());
  std::iota(all.begin(), all.end(), 0);
  return view(weights, all);
}

void GradientCollector::release(int tower) {
  for (auto& gradient : collected_[static_cast<std::size_t>(tower)]) gradient.reset();
}

void GradientCollector::discard() {
  for (int tower = 0; tower < replicas_->size(); ++tower) {
    release(tower);
    for (const auto& entry : replicas_->table(tower).trainable) entry.tensor.mutable_grad().reset();
  }
}

}  // namespace pagoda
