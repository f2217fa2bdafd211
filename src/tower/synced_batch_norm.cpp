#include "tower/synced_batch_norm.h"

#include <pagoda/base/error.h>

#include <string>
#include <vector>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/full.h>
#include <ATen/ops/stack.h>
#include <torch/csrc/autograd/custom_function.h>

namespace pagoda {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// All dimensions but that of the channels.
std::vector<std::int64_t> summed_dimensions(const at::Tensor& x) {
  std::vector<std::int64_t> dimensions = {0};
  for (std::int64_t i = 2; i < x.dim(); ++i) dimensions.push_back(i);
  return dimensions;
}

/// One number for each channel, as it applies to all its values.
at::Tensor by_channel(const at::Tensor& numbers, const at::Tensor& x) {
  std::vector<std::int64_t> shape(static_cast<std::size_t>(x.dim()), 1);
  shape[1] = x.size(1);
  return numbers.to(x.device(), x.scalar_type()).view(shape);
}

at::Tensor channel_sum(const at::Tensor& x) {
  return x.sum(summed_dimensions(x), /*keepdim=*/false, at::kDouble).to(at::kCPU);
}

struct Statistics {
  double count = 0;  // values of each channel
  at::Tensor mean;
  at::Tensor squares;  // sum of squared differences from the mean
};

/// Adds up the towers' statistics in their order (Chan, Golub and LeVeque, 1979).
Statistics merged(const std::vector<at::Tensor>& towers) {
  Statistics all;
  for (const at::Tensor& tower : towers) {
    const double count = tower[0][0].item<double>();
    if (all.count == 0) {
      all = {count, tower[1], tower[2]};
      continue;
    }
    const double total = all.count + count;
    const at::Tensor apart = tower[1] - all.mean;
    all = {total, all.mean + apart * (count / total),
           all.squares + tower[2] + apart.square() * (all.count * count / total)};
  }
  return all;
}

Statistics statistics_of_all(BatchNormExchange& exchange, const BatchNormExchange::Place& place,
                             const at::Tensor& x) {
  const double count = static_cast<double>(x.numel()) / static_cast<double>(x.size(1));
  const at::Tensor mean = channel_sum(x) / count;
  const at::Tensor squares = channel_sum((x - by_channel(mean, x)).square());
  const Statistics all =
      merged(exchange.exchange(place, at::stack({at::full_like(mean, count), mean, squares})));
  if (all.count > 1) return all;
  throw UsageError(
      "BatchNorm got a single value for each channel from all towers together; it needs "
      "at least two in training");
}

bool has_value(const std::optional<at::Tensor>& tensor) { return tensor && tensor->defined(); }

/// What a difference from the mean is multiplied by.
at::Tensor scale_of(const at::Tensor& weight, const at::Tensor& inverse) {
  return weight.defined() ? weight.to(at::kCPU, at::kDouble) * inverse : inverse;
}

/// What backward needs besides tensors.
struct Meeting : torch::CustomClassHolder {
  Meeting(std::shared_ptr<BatchNormExchange> towers, const BatchNormExchange::Place& at)
      : exchange(std::move(towers)), place(at) {}
  std::shared_ptr<BatchNormExchange> exchange;
  BatchNormExchange::Place place;
};

/// Normalises with given statistics; backward knows that these depend on the input of all towers.
struct Normalise : torch::autograd::Function<Normalise> {
  using Maybe = std::optional<at::Tensor>;

  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const Maybe& weight,
                            const Maybe& bias, const at::Tensor& mean, const at::Tensor& inverse,
                            double count, const c10::intrusive_ptr<Meeting>& meeting) {
    context->save_for_backward(
        {x, weight.value_or(at::Tensor()), bias.value_or(at::Tensor()), mean, inverse});
    context->saved_data["count"] = count;
    context->saved_data["meeting"] = c10::IValue::make_capsule(meeting);
    const at::Tensor scale = scale_of(weight.value_or(at::Tensor()), inverse);
    at::Tensor shift = -mean * scale;
    if (has_value(bias)) shift = shift + bias->to(at::kCPU, at::kDouble);
    return x * by_channel(scale, x) + by_channel(shift, x);
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    if (at::GradMode::is_enabled()) {
      throw UsageError(
          "BatchNorm over all towers has no second derivative; switch "
          "TowerOptions::sync_batch_norm off");
    }
    const auto saved = context->get_saved_variables();
    const at::Tensor &x = saved[0], &weight = saved[1], &mean = saved[3], &inverse = saved[4];
    const double count = context->saved_data["count"].toDouble();
    const auto meeting =
        c10::static_intrusive_pointer_cast<Meeting>(context->saved_data["meeting"].toCapsule());
    const at::Tensor& dy = gradients[0];
    const at::Tensor normalised = (x - by_channel(mean, x)) * by_channel(inverse, x);
    const at::Tensor own = at::stack({channel_sum(dy), channel_sum(dy * normalised)});
    at::Tensor all;
    for (const at::Tensor& tower : meeting->exchange->exchange(meeting->place, own))
      all = all.defined() ? all + tower : tower;
    const at::Tensor scale = scale_of(weight, inverse);
    const at::Tensor dx =
        (dy - by_channel(all[0] / count, x) - normalised * by_channel(all[1] / count, x)) *
        by_channel(scale, x);
    // Copies: other towers still read the sums when this one adds its next feed's to the gradient.
    const auto gradient_of = [](const at::Tensor& tensor, const at::Tensor& sum) {
      return tensor.defined() ? sum.to(tensor.device(), tensor.scalar_type(),
                                       /*non_blocking=*/false, /*copy=*/true)
                              : at::Tensor();
    };
    return {dx, gradient_of(weight, own[1]), gradient_of(saved[2], own[0]), {}, {}, {}, {}};
  }
};

void follow(const std::optional<at::Tensor>& running, const at::Tensor& value, double momentum) {
  if (!has_value(running)) return;
  running->mul_(1 - momentum).add_(value.to(running->device(), running->scalar_type()), momentum);
}

}  // namespace

at::Tensor synced_batch_norm(BatchNormTurn& turn, const BatchNormInput& given) {
  BatchNormExchange::Place place = turn.next_call();
  // 16-bit numbers are too coarse for sums.
  const bool coarse =
      given.input.scalar_type() == at::kHalf || given.input.scalar_type() == at::kBFloat16;
  const at::Tensor x = coarse ? given.input.to(at::kFloat) : given.input;
  Statistics all;
  at::Tensor inverse;
  {
    const at::NoGradGuard no_grad;
    all = statistics_of_all(*turn.exchange(), place, x.detach());
    inverse = (all.squares / all.count + given.epsilon).rsqrt();
    follow(given.running_mean, all.mean, given.momentum);
    follow(given.running_var, all.squares / (all.count - 1), given.momentum);
  }
  place.pass = BatchNormExchange::Pass::backward;
  const at::Tensor y = Normalise::apply(x, given.weight, given.bias, all.mean, inverse, all.count,
                                        c10::make_intrusive<Meeting>(turn.exchange(), place));
  return coarse ? y.to(given.input.scalar_type()) : y;
}

void check_smallest_feed(const BatchNormTurn& turn, const at::Tensor& input) {
  if (turn.smallest_feed() == 0 || input.dim() < 2 || input.numel() == 0) return;
  const std::int64_t values_of_sample = input.numel() / (input.size(0) * input.size(1));
  if (turn.smallest_feed() * values_of_sample > 1) return;
  throw UsageError(
      "the last step of an epoch has a feed of one sample, which BatchNorm cannot normalise in "
      "training; set BatchesOptions::drop_last, or choose a batch size that leaves more");
}

}  // namespace pagoda
