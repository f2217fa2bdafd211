#include <pagoda/base/error.h>
#include <pagoda/models/rnn_layer.h>

#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/LegacyTypeDispatch.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/nn/init.h>

#include "models/int8_linear.h"
#include "models/narrow_products.h"
#include "models/rnn_kernels.h"

namespace pagoda {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

std::int64_t gates_of(Cell cell) { return cell == Cell::lstm ? 4 : 3; }

/// The steps of a layer in the order that it takes them; `states` has one more than there are
/// steps, the first state at the end that the layer begins at.
struct Order {
  std::int64_t steps;
  bool reverse;

  std::int64_t time(std::int64_t step) const { return reverse ? steps - 1 - step : step; }
  at::Tensor before(const at::Tensor& states, std::int64_t time) const {
    return states.select(0, reverse ? time + 1 : time);
  }
  at::Tensor after(const at::Tensor& states, std::int64_t time) const {
    return states.select(0, reverse ? time : time + 1);
  }
  at::Tensor first(const at::Tensor& states) const { return states.select(0, reverse ? steps : 0); }
  at::Tensor last(const at::Tensor& states) const { return states.select(0, reverse ? 0 : steps); }
  at::Tensor all_before(const at::Tensor& states) const {
    return states.narrow(0, reverse ? 1 : 0, steps);
  }
  at::Tensor all_after(const at::Tensor& states) const {
    return states.narrow(0, reverse ? 0 : 1, steps);
  }
};

template <class Run>
void in_type_of(const at::Tensor& tensor, Run run) {
  if (tensor.scalar_type() == at::kFloat) {
    run(float());
  } else {
    run(double());
  }
}

template <class T>
T* data(const at::Tensor& tensor) {
  return tensor.mutable_data_ptr<T>();
}

at::Tensor flat(const at::Tensor& sequence) { return sequence.flatten(0, 1); }

/// The matrix products of a layer, in the type or the number of bits that it has.
struct GateProducts {
  std::function<at::Tensor(const at::Tensor& rows)> from_inputs;  // with the bias
  std::function<void(const at::Tensor& sums, const at::Tensor& states)> add_from_states;
};

/// What the steps of a layer leave behind.
struct RnnSteps {
  at::Tensor gates;    // [steps, batch, gates]
  at::Tensor hiddens;  // see Order
  at::Tensor cells;    // of an LSTM
  at::Tensor extra;    // of an LSTM the bounded cells, of a GRU the gates' sums from the state
};

/// `x` [steps, batch, input] contiguous, on the CPU.
RnnSteps run_steps(const at::Tensor& x, const RnnState& initial, const at::Tensor& lengths,
                   const at::Tensor& bias_hh, bool reverse, const GateProducts& products) {
  const Order order{x.size(0), reverse};
  const std::int64_t batch = x.size(1);
  const std::int64_t size = initial.hidden.size(1);
  const bool is_lstm = initial.cell.defined();
  const at::Tensor hiddens = at::empty({order.steps + 1, batch, size}, x.options());
  order.first(hiddens).copy_(initial.hidden);
  const at::Tensor cells = is_lstm ? at::empty_like(hiddens) : at::Tensor();
  if (is_lstm) order.first(cells).copy_(initial.cell);
  const at::Tensor gates = products.from_inputs(flat(x)).view({order.steps, batch, -1});
  const at::Tensor extra = at::empty({order.steps, batch, is_lstm ? size : 3 * size}, x.options());
  in_type_of(x, [&](auto type) {
    using T = decltype(type);
    for (std::int64_t step = 0; step < order.steps; ++step) {
      const std::int64_t t = order.time(step);
      const at::Tensor before = order.before(hiddens, t);
      const at::Tensor after = order.after(hiddens, t);
      at::Tensor now = gates.select(0, t);
      at::Tensor more = extra.select(0, t);
      const RnnStepShape shape{batch, size, t,
                               lengths.defined() ? data<std::int64_t>(lengths) : nullptr};
      if (is_lstm) {
        products.add_from_states(now, before);
        run_step(shape,
                 LstmForward<T>{data<T>(now), data<T>(before), data<T>(order.before(cells, t)),
                                data<T>(after), data<T>(order.after(cells, t)), data<T>(more)});
      } else {
        more.copy_(bias_hh);
        products.add_from_states(more, before);
        run_step(shape,
                 GruForward<T>{data<T>(now), data<T>(more), data<T>(before), data<T>(after)});
      }
    }
  });
  return {gates, hiddens, cells, extra};
}

/// The whole layer as one node of the autograd graph.
struct RnnFunction : torch::autograd::Function<RnnFunction> {
  // The places of backward's results.
  enum Argument {
    kInputs,
    kHidden,
    kCell,
    kWeightIh,
    kWeightHh,
    kBiasIh,
    kBiasHh,
    kArguments = 10
  };

  static variable_list forward(AutogradContext* context, const at::Tensor& inputs,
                               const at::Tensor& hidden, const std::optional<at::Tensor>& cell,
                               const at::Tensor& weight_ih, const at::Tensor& weight_hh,
                               const at::Tensor& bias_ih, const at::Tensor& bias_hh,
                               const std::optional<at::Tensor>& given_lengths, bool is_lstm,
                               bool reverse) {
    const at::ScalarType type = product_type(inputs);
    const at::AutoDispatchBelowADInplaceOrView plain_views;
    const WithoutAutocast as_they_are;
    const at::Tensor lengths = given_lengths.value_or(at::Tensor());
    const Order order{inputs.size(0), reverse};
    const at::Tensor x = inputs.contiguous();
    const at::Tensor from_input = weight_ih.to(type);
    const at::Tensor from_state = weight_hh.to(type);
    const GateProducts products{.from_inputs =
                                    [&](const at::Tensor& rows) {
                                      return affine(is_lstm ? bias_ih + bias_hh : bias_ih, rows,
                                                    from_input.t());
                                    },
                                .add_from_states =
                                    [&](const at::Tensor& sums, const at::Tensor& states) {
                                      add_product(sums, states, from_state.t());
                                    }};
    const auto [gates, hiddens, cells, extra] =
        run_steps(x, {hidden, cell.value_or(at::Tensor())}, lengths, bias_hh, reverse, products);

    context->save_for_backward({x, from_input, from_state, hiddens, cells, gates, extra, lengths});
    context->saved_data["is_lstm"] = is_lstm;
    context->saved_data["reverse"] = reverse;
    variable_list results{order.all_after(hiddens), order.last(hiddens).clone()};
    if (is_lstm) results.push_back(order.last(cells).clone());
    return results;
  }

  static variable_list backward(AutogradContext* context, variable_list grads) {
    const at::AutoDispatchBelowADInplaceOrView plain_views;
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &x = saved[0], &weight_ih = saved[1], &weight_hh = saved[2],
                     &hiddens = saved[3], &cells = saved[4], &gates = saved[5], &extra = saved[6],
                     &lengths = saved[7];
    const bool is_lstm = context->saved_data["is_lstm"].toBool();
    const Order order{x.size(0), context->saved_data["reverse"].toBool()};
    const std::int64_t batch = x.size(1);
    const std::int64_t size = weight_hh.size(1);
    const auto start_from = [&](const at::Tensor& grad) {
      return grad.defined() ? grad.clone(at::MemoryFormat::Contiguous)
                            : at::zeros({batch, size}, x.options());
    };
    at::Tensor grad_hidden = start_from(grads[1]);
    at::Tensor grad_cell = is_lstm ? start_from(grads[2]) : at::Tensor();
    at::Tensor direct = at::empty_like(grad_hidden);
    const at::Tensor grad_gates = at::empty_like(gates);
    const at::Tensor grad_state_gates = is_lstm ? grad_gates : at::empty_like(gates);

    in_type_of(x, [&](auto type) {
      using T = decltype(type);
      for (std::int64_t step = order.steps - 1; step >= 0; --step) {
        const std::int64_t t = order.time(step);
        if (grads[0].defined()) grad_hidden.add_(grads[0].select(0, t));
        const RnnStepShape shape{batch, size, t,
                                 lengths.defined() ? data<std::int64_t>(lengths) : nullptr};
        if (is_lstm) {
          run_step(shape,
                   LstmBackward<T>{data<T>(gates.select(0, t)), data<T>(grad_gates.select(0, t)),
                                   data<T>(order.before(cells, t)), data<T>(extra.select(0, t)),
                                   data<T>(grad_hidden), data<T>(grad_cell), data<T>(direct)});
        } else {
          run_step(shape, GruBackward<T>{data<T>(gates.select(0, t)), data<T>(extra.select(0, t)),
                                         data<T>(grad_gates.select(0, t)),
                                         data<T>(grad_state_gates.select(0, t)),
                                         data<T>(order.before(hiddens, t)), data<T>(grad_hidden),
                                         data<T>(direct)});
        }
        add_product(direct, grad_state_gates.select(0, t), weight_hh);
        std::swap(direct, grad_hidden);
      }
    });

    const at::Tensor from_input = flat(grad_gates);
    const at::Tensor from_state = flat(grad_state_gates);
    variable_list results(kArguments);
    const at::ScalarType type = weight_hh.scalar_type();
    results[kInputs] = product(from_input, weight_ih).view_as(x);
    results[kHidden] = grad_hidden;
    results[kCell] = grad_cell;
    results[kWeightIh] = product(from_input.t(), flat(x).to(type));
    results[kWeightHh] = product(from_state.t(), flat(order.all_before(hiddens)).to(type));
    results[kBiasIh] = from_input.sum(0);
    results[kBiasHh] = from_state.sum(0);
    return results;
  }
};

at::Tensor or_zeros(const at::Tensor& state, const at::Tensor& inputs, std::int64_t hidden) {
  return state.defined() ? state : at::zeros({inputs.size(1), hidden}, inputs.options());
}

/// An undefined tensor is none: autograd takes no undefined arguments.
std::optional<at::Tensor> given(const at::Tensor& tensor) {
  return tensor.defined() ? std::optional(tensor) : std::nullopt;
}

/// What a layer's weights are, by name.
struct Weights {
  at::Tensor ih, hh, bias_ih, bias_hh;
};

RnnState cell_step(Cell cell, const at::Tensor& from_input, const at::Tensor& from_state,
                   const RnnState& last) {
  if (cell == Cell::lstm) {
    const auto gates = (from_input + from_state).chunk(4, 1);
    const at::Tensor now = gates[1].sigmoid() * last.cell + gates[0].sigmoid() * gates[2].tanh();
    return {gates[3].sigmoid() * now.tanh(), now};
  }
  const auto x = from_input.chunk(3, 1);
  const auto h = from_state.chunk(3, 1);
  const at::Tensor keep = (x[1] + h[1]).sigmoid();
  const at::Tensor fresh = (x[2] + (x[0] + h[0]).sigmoid() * h[2]).tanh();
  return {(1 - keep) * fresh + keep * last.hidden, {}};
}

/// The same with weights in 8 bits and without gradients.
RnnResult run_int8(const Int8Linear& from_input, const Int8Linear& from_state,
                   const at::Tensor& inputs, const RnnState& initial, const at::Tensor& lengths,
                   const at::Tensor& bias_hh, bool reverse) {
  const GateProducts products{
      .from_inputs = [&](const at::Tensor& rows) { return from_input(rows); },
      .add_from_states = [&](const at::Tensor& sums,
                             const at::Tensor& states) { sums.add_(from_state(states)); }};
  const RnnSteps steps =
      run_steps(inputs.contiguous(), initial, lengths, bias_hh, reverse, products);
  const Order order{inputs.size(0), reverse};
  return {
      order.all_after(steps.hiddens),
      {order.last(steps.hiddens), steps.cells.defined() ? order.last(steps.cells) : at::Tensor()}};
}

/// The same as RnnFunction, with LibTorch's operators: for devices and types without our kernels.
RnnResult run_operators(const RnnLayerOptions& options, const at::Tensor& inputs,
                        const at::Tensor& lengths, RnnState state, const Weights& weights) {
  const Order order{inputs.size(0), options.reverse};
  const at::ScalarType type = inputs.scalar_type();
  const at::Tensor gates = at::linear(inputs, weights.ih, weights.bias_ih).to(type);
  const at::Tensor from_state = weights.hh.to(product_type(inputs));  // once for all steps
  std::vector<at::Tensor> outputs(static_cast<std::size_t>(order.steps));
  for (std::int64_t step = 0; step < order.steps; ++step) {
    const std::int64_t t = order.time(step);
    const RnnState next =
        cell_step(options.cell, gates.select(0, t),
                  at::linear(state.hidden, from_state, weights.bias_hh).to(type), state);
    if (lengths.defined()) {
      const at::Tensor live = (lengths > t).to(inputs.device()).unsqueeze(1);
      state.hidden = at::where(live, next.hidden, state.hidden);
      if (next.cell.defined()) state.cell = at::where(live, next.cell, state.cell);
    } else {
      state = next;
    }
    outputs[static_cast<std::size_t>(t)] = state.hidden;
  }
  return {at::stack(outputs), state};
}

}  // namespace

Cell cell_of(std::string_view name) {
  if (name == "lstm") return Cell::lstm;
  if (name == "gru") return Cell::gru;
  throw UsageError("there is no cell \"" + std::string(name) + "\"; take lstm or gru");
}

RnnLayerImpl::RnnLayerImpl(const RnnLayerOptions& options) : options_(options) {
  if (options.input < 1 || options.hidden < 1) {
    throw UsageError("a recurrent layer needs sizes of at least 1, not " +
                     std::to_string(options.input) + " and " + std::to_string(options.hidden));
  }
  const std::int64_t gates = gates_of(options.cell) * options.hidden;
  weight_ih_ = register_parameter("weight_ih", at::empty({gates, options.input}));
  weight_hh_ = register_parameter("weight_hh", at::empty({gates, options.hidden}));
  bias_ih_ = register_parameter("bias_ih", at::empty({gates}));
  bias_hh_ = register_parameter("bias_hh", at::empty({gates}));
  const double bound = 1 / std::sqrt(static_cast<double>(options.hidden));
  for (auto& parameter : parameters(/*recurse=*/false)) {
    torch::nn::init::uniform_(parameter, -bound, bound);
  }
}

RnnResult RnnLayerImpl::forward(const at::Tensor& inputs, const at::Tensor& lengths,
                                const RnnState& initial) {
  const bool is_lstm = options_.cell == Cell::lstm;
  const at::Tensor x = widened_by_autocast(inputs);
  const auto begin = [&](const at::Tensor& state) {
    return or_zeros(widened_by_autocast(state), x, options_.hidden);
  };
  const RnnState state{begin(initial.hidden), is_lstm ? begin(initial.cell) : at::Tensor()};
  const at::ScalarType type = x.scalar_type();
  const bool has_kernels = x.is_cpu() && (type == at::kFloat || type == at::kDouble);
  if (!has_kernels) {
    return run_operators(options_, x, lengths, state, {weight_ih_, weight_hh_, bias_ih_, bias_hh_});
  }
  if (int8_ih_ != nullptr && !at::GradMode::is_enabled())
    return run_int8(*int8_ih_, *int8_hh_, x, state, lengths, bias_hh_, options_.reverse);
  const variable_list results =
      RnnFunction::apply(x, state.hidden, given(state.cell), weight_ih_, weight_hh_, bias_ih_,
                         bias_hh_, given(lengths), is_lstm, options_.reverse);
  return {results[0], {results[1], is_lstm ? results[2] : at::Tensor()}};
}

void RnnLayerImpl::use_int8(Int8Products& products) {
  const at::NoGradGuard no_grad;
  const bool is_lstm = options_.cell == Cell::lstm;
  int8_ih_ = products.of(weight_ih_, is_lstm ? bias_ih_ + bias_hh_ : bias_ih_);
  int8_hh_ = products.of(weight_hh_, at::zeros_like(bias_hh_));
}

}  // namespace pagoda
