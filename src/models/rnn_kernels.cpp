// Built with -O3 and without LibTorch's headers.
#include "models/rnn_kernels.h"

#include "models/vector_math.h"

namespace pagoda {
namespace {

PAGODA_INLINE bool has_ended(const RnnStepShape& shape, std::int64_t row) {
  return shape.lengths != nullptr && shape.lengths[row] <= shape.time;
}

template <class T>
PAGODA_INLINE void fill_zero(T* __restrict out, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) out[i] = 0;
}

template <class T>
PAGODA_INLINE void copy(T* __restrict out, const T* __restrict in, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) out[i] = in[i];
}

template <class T>
PAGODA_INLINE void run(const RnnStepShape& shape, const LstmForward<T>& step) {
  const std::int64_t n = shape.hidden;
  for (std::int64_t row = 0; row < shape.batch; ++row) {
    T* __restrict gates = step.gates + row * 4 * n;
    const T* __restrict last_cell = step.last_cell + row * n;
    T* __restrict cell = step.cell + row * n;
    T* __restrict hidden = step.hidden + row * n;
    T* __restrict tanh_cell = step.tanh_cell + row * n;
    if (has_ended(shape, row)) {
      copy(hidden, step.last_hidden + row * n, n);
      copy(cell, last_cell, n);
      continue;
    }
    // The parts of a row do not overlap, which the compiler cannot see here or in the loops below.
#pragma GCC ivdep
    for (std::int64_t i = 0; i < n; ++i) {
      const T in = vector_sigmoid(gates[i]);
      const T forget = vector_sigmoid(gates[n + i]);
      const T candidate = vector_tanh(gates[2 * n + i]);
      const T out = vector_sigmoid(gates[3 * n + i]);
      const T now = forget * last_cell[i] + in * candidate;
      const T bounded = vector_tanh(now);
      gates[i] = in;
      gates[n + i] = forget;
      gates[2 * n + i] = candidate;
      gates[3 * n + i] = out;
      cell[i] = now;
      tanh_cell[i] = bounded;
      hidden[i] = out * bounded;
    }
  }
}

template <class T>
PAGODA_INLINE void run(const RnnStepShape& shape, const LstmBackward<T>& step) {
  const std::int64_t n = shape.hidden;
  for (std::int64_t row = 0; row < shape.batch; ++row) {
    const T* __restrict gates = step.gates + row * 4 * n;
    T* __restrict grad_gates = step.grad_gates + row * 4 * n;
    const T* __restrict last_cell = step.last_cell + row * n;
    const T* __restrict tanh_cell = step.tanh_cell + row * n;
    const T* __restrict grad_hidden = step.grad_hidden + row * n;
    T* __restrict grad_cell = step.grad_cell + row * n;
    T* __restrict grad_direct = step.grad_direct + row * n;
    if (has_ended(shape, row)) {
      fill_zero(grad_gates, 4 * n);
      copy(grad_direct, grad_hidden, n);
      continue;
    }
#pragma GCC ivdep
    for (std::int64_t i = 0; i < n; ++i) {
      const T in = gates[i];
      const T forget = gates[n + i];
      const T candidate = gates[2 * n + i];
      const T out = gates[3 * n + i];
      const T grad_now = grad_cell[i] + grad_hidden[i] * out * (T(1) - tanh_cell[i] * tanh_cell[i]);
      grad_gates[i] = grad_now * candidate * in * (T(1) - in);
      grad_gates[n + i] = grad_now * last_cell[i] * forget * (T(1) - forget);
      grad_gates[2 * n + i] = grad_now * in * (T(1) - candidate * candidate);
      grad_gates[3 * n + i] = grad_hidden[i] * tanh_cell[i] * out * (T(1) - out);
      grad_cell[i] = grad_now * forget;
      grad_direct[i] = 0;
    }
  }
}

template <class T>
PAGODA_INLINE void run(const RnnStepShape& shape, const GruForward<T>& step) {
  const std::int64_t n = shape.hidden;
  for (std::int64_t row = 0; row < shape.batch; ++row) {
    T* __restrict from_input = step.input_gates + row * 3 * n;
    const T* __restrict from_state = step.hidden_gates + row * 3 * n;
    const T* __restrict last_hidden = step.last_hidden + row * n;
    T* __restrict hidden = step.hidden + row * n;
    if (has_ended(shape, row)) {
      copy(hidden, last_hidden, n);
      continue;
    }
#pragma GCC ivdep
    for (std::int64_t i = 0; i < n; ++i) {
      const T reset = vector_sigmoid(from_input[i] + from_state[i]);
      const T keep = vector_sigmoid(from_input[n + i] + from_state[n + i]);
      const T fresh = vector_tanh(from_input[2 * n + i] + reset * from_state[2 * n + i]);
      from_input[i] = reset;
      from_input[n + i] = keep;
      from_input[2 * n + i] = fresh;
      hidden[i] = (T(1) - keep) * fresh + keep * last_hidden[i];
    }
  }
}

template <class T>
PAGODA_INLINE void run(const RnnStepShape& shape, const GruBackward<T>& step) {
  const std::int64_t n = shape.hidden;
  for (std::int64_t row = 0; row < shape.batch; ++row) {
    const T* __restrict from_input = step.input_gates + row * 3 * n;
    const T* __restrict from_state = step.hidden_gates + row * 3 * n;
    T* __restrict grad_input = step.grad_input_gates + row * 3 * n;
    T* __restrict grad_state = step.grad_hidden_gates + row * 3 * n;
    const T* __restrict last_hidden = step.last_hidden + row * n;
    const T* __restrict grad_hidden = step.grad_hidden + row * n;
    T* __restrict grad_direct = step.grad_direct + row * n;
    if (has_ended(shape, row)) {
      fill_zero(grad_input, 3 * n);
      fill_zero(grad_state, 3 * n);
      copy(grad_direct, grad_hidden, n);
      continue;
    }
#pragma GCC ivdep
    for (std::int64_t i = 0; i < n; ++i) {
      const T reset = from_input[i];
      const T keep = from_input[n + i];
      const T fresh = from_input[2 * n + i];
      const T grad_fresh = grad_hidden[i] * (T(1) - keep) * (T(1) - fresh * fresh);
      const T grad_keep = grad_hidden[i] * (last_hidden[i] - fresh) * keep * (T(1) - keep);
      const T grad_reset = grad_fresh * from_state[2 * n + i] * reset * (T(1) - reset);
      grad_input[i] = grad_reset;
      grad_input[n + i] = grad_keep;
      grad_input[2 * n + i] = grad_fresh;
      grad_state[i] = grad_reset;
      grad_state[n + i] = grad_keep;
      grad_state[2 * n + i] = grad_fresh * reset;
      grad_direct[i] = grad_hidden[i] * keep;
    }
  }
}

}  // namespace

// Attributes do not reach into templates, so each type is written out.
#define PAGODA_RUN_STEP(Step)                                                       \
  PAGODA_VECTOR_CLONES void run_step(const RnnStepShape& shape, const Step& step) { \
    run(shape, step);                                                               \
  }
PAGODA_RUN_STEP(LstmForward<float>)
PAGODA_RUN_STEP(LstmForward<double>)
PAGODA_RUN_STEP(LstmBackward<float>)
PAGODA_RUN_STEP(LstmBackward<double>)
PAGODA_RUN_STEP(GruForward<float>)
PAGODA_RUN_STEP(GruForward<double>)
PAGODA_RUN_STEP(GruBackward<float>)
PAGODA_RUN_STEP(GruBackward<double>)
#undef PAGODA_RUN_STEP

}  // namespace pagoda
