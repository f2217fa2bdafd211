#pragma once

#include <cstdint>

namespace pagoda {

// One step of a recurrent layer between its matrix products, for all sequences of a batch: plain
// loops over rows of `hidden` elements. Sequences that have ended (lengths[b] <= time) keep their
// state; their gate gradients are zero.

struct RnnStepShape {
  std::int64_t batch;
  std::int64_t hidden;
  std::int64_t time;            ///< of this step
  const std::int64_t* lengths;  ///< by sequence; null: none has ended
};

template <class T>
struct LstmForward {
  T* gates;  ///< [batch, 4 hidden]: sums for i, f, g, o in; what they become out
  const T* last_hidden;
  const T* last_cell;
  T* hidden;
  T* cell;
  T* tanh_cell;
};

template <class T>
struct LstmBackward {
  const T* gates;      ///< as forward left them
  T* grad_gates;       ///< out: gradients of the sums
  const T* last_cell;  ///< before the step
  const T* tanh_cell;
  const T* grad_hidden;
  T* grad_cell;    ///< after the step in, before it out
  T* grad_direct;  ///< out: the part of the gradient before the step that passes no gate
};

template <class T>
struct GruForward {
  T* input_gates;   ///< [batch, 3 hidden]: sums for r, z, n in; what they become out
  T* hidden_gates;  ///< the same from the state; kept for backward
  const T* last_hidden;
  T* hidden;
};

template <class T>
struct GruBackward {
  const T* input_gates;   ///< as forward left them
  const T* hidden_gates;  ///< likewise
  T* grad_input_gates;    ///< out: gradients of the input's sums
  T* grad_hidden_gates;   ///< out: gradients of the state's sums
  const T* last_hidden;
  const T* grad_hidden;
  T* grad_direct;
};

void run_step(const RnnStepShape& shape, const LstmForward<float>& step);
void run_step(const RnnStepShape& shape, const LstmForward<double>& step);
void run_step(const RnnStepShape& shape, const LstmBackward<float>& step);
void run_step(const RnnStepShape& shape, const LstmBackward<double>& step);
void run_step(const RnnStepShape& shape, const GruForward<float>& step);
void run_step(const RnnStepShape& shape, const GruForward<double>& step);
void run_step(const RnnStepShape& shape, const GruBackward<float>& step);
void run_step(const RnnStepShape& shape, const GruBackward<double>& step);

}  // namespace pagoda
