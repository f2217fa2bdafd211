#pragma once

namespace torch {
class Library;
}

namespace pagoda {

/// Dropout and the cells of LSTM and GRU, for which LibTorch has fused kernels on cards only. Here
/// they are written as the CPU computes them, out of smaller operators that autograd knows, so that
/// a card gives the numbers of a CPU tower.
void implement_layers(torch::Library& library);

}  // namespace pagoda
