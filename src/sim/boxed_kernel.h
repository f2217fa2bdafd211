#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

namespace pagoda {

/// The kernel of nearly every operator on a simulated card: shows the arguments to the CPU's kernel
/// as CPU tensors over the same memory, and hands the results back as tensors of the card.
/// Fails: UsageError when the arguments lie on different devices; what the card or the CPU's kernel
/// throws.
void run_on_host(const c10::OperatorHandle& op, torch::jit::Stack* stack);

}  // namespace pagoda
