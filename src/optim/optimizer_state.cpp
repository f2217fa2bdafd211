#include "optim/optimizer_state.h"

#include <utility>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/zeros.h>

namespace pagoda {

OptimizerState::OptimizerState(const std::vector<NamedTensor>& parameters,
                               std::vector<StateArray> arrays, const UpdateOptions& options,
                               std::vector<ElementRange> ranges)
    : parameters_(parameters),
      arrays_(std::move(arrays)),
      ranges_(std::move(ranges)),
      updates_(at::zeros({static_cast<std::int64_t>(parameters.size())}, at::kLong)) {
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const at::Tensor values = elements_of(parameters[i].tensor, ranges_[i]);
    for (const StateArray& array : arrays_)
      tensors_.push_back(at::full_like(values, array.initial));
    if (options.moving_average) averages_.push_back(values.clone());
  }
}

std::int64_t OptimizerState::count_update(std::size_t parameter) {
  return ++updates_.mutable_data_ptr<std::int64_t>()[parameter];
}

UpdaterState OptimizerState::room() const {
  UpdaterState whole;
  const auto room_for = [](const at::Tensor& parameter) {
    return at::empty_strided(parameter.sizes(), parameter.strides(),
                             parameter.options().device(at::kCPU).requires_grad(false))
        .zero_();
  };
  for (const auto& [name, parameter] : parameters_) {
    for (const StateArray& array : arrays_)
      whole.optimizer.push_back({array.name + "/" + name, room_for(parameter)});
    if (has_averages()) whole.averages.push_back(room_for(parameter));
  }
  whole.optimizer.push_back({"updates", at::empty_like(updates_)});
  return whole;
}

template <class Visit>
void OptimizerState::each_part(const UpdaterState& whole, Visit visit) const {
  at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < ranges_.size(); ++i) {
    if (ranges_[i].size() == 0) continue;
    for (std::size_t slot = 0; slot < slots(); ++slot) {
      visit(tensor(i, slot), elements_of(whole.optimizer[i * slots() + slot].tensor, ranges_[i]));
    }
    if (has_averages()) visit(average(i), elements_of(whole.averages[i], ranges_[i]));
  }
  visit(updates_, whole.optimizer.back().tensor);
}

void OptimizerState::write_to(const UpdaterState& whole) const {
  each_part(whole, [](const at::Tensor& own, const at::Tensor& all) { all.copy_(own); });
}

void OptimizerState::load(const UpdaterState& whole) {
  each_part(whole, [](const at::Tensor& own, const at::Tensor& all) { own.copy_(all); });
}

}  // namespace pagoda
