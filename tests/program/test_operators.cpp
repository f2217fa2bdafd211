// A library of operators as a user may have one.

#include <ATen/ATen.h>
#include <torch/library.h>

TORCH_LIBRARY(pagoda_test, library) {
  library.def("twice(Tensor x) -> Tensor", [](const at::Tensor& x) { return x + x; });
}
