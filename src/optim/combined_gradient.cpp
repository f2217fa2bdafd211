#include "optim/combined_gradient.h"

#include <algorithm>
#include <cstring>

#include <ATen/ops/empty.h>
#include <ATen/ops/sparse_coo_tensor.h>

#include "params/block_plan.h"
#include "params/gradient_visit.h"

namespace pagoda {
namespace {

/// Writes the swept sums one after another.
template <class T>
void write_sums(const ParameterGradient& gradient, const std::vector<double>& weights,
                std::int64_t row_elements, const ElementRange& range, Sweep sweep,
                const at::Tensor& sums) {
  T* out = sums.mutable_data_ptr<T>();
  visit_gradient<T>(gradient, weights, row_elements, range.begin, range.end, sweep,
                    [&](std::int64_t, std::int64_t count, const T* values) {
                      std::memcpy(out, values, static_cast<std::size_t>(count) * sizeof(T));
                      out += count;
                    });
}

void write_sums(const ParameterGradient& gradient, const std::vector<double>& weights,
                std::int64_t row_elements, const ElementRange& range, Sweep sweep,
                const at::Tensor& sums) {
  if (sums.scalar_type() == at::kFloat) {
    write_sums<float>(gradient, weights, row_elements, range, sweep, sums);
  } else {
    write_sums<double>(gradient, weights, row_elements, range, sweep, sums);
  }
}

}  // namespace

at::Tensor combined_elements(const ParameterGradient& gradient, const std::vector<double>& weights,
                             std::int64_t row_elements, const ElementRange& range,
                             at::ScalarType type) {
  at::Tensor sums = at::empty({range.size()}, type);
  write_sums(gradient, weights, row_elements, range, Sweep::all, sums);
  return sums;
}

CombinedRows combined_rows(const ParameterGradient& gradient, const std::vector<double>& weights,
                           std::int64_t row_elements, const ElementRange& range,
                           at::ScalarType type) {
  std::vector<std::int64_t> numbers;
  for (const TouchedRow& touched : gradient.touched) {
    const std::int64_t begin = touched.row * row_elements;
    if (begin >= range.begin && begin < range.end)
      numbers.push_back(touched.row - range.begin / row_elements);
  }
  const auto count = static_cast<std::int64_t>(numbers.size());
  CombinedRows rows{at::empty({count}, at::kLong), at::empty({count, row_elements}, type)};
  std::copy(numbers.begin(), numbers.end(), rows.numbers.mutable_data_ptr<std::int64_t>());
  write_sums(gradient, weights, row_elements, range, Sweep::touched, rows.values);
  return rows;
}

at::Tensor combined_sparse(const at::Tensor& parameter, const ParameterGradient& gradient,
                           const std::vector<double>& weights) {
  const CombinedRows rows = combined_rows(gradient, weights, row_elements(parameter),
                                          {0, parameter.numel()}, parameter.scalar_type());
  std::vector<std::int64_t> shape = parameter.sizes().vec();
  shape[0] = rows.numbers.numel();
  return at::sparse_coo_tensor(rows.numbers.unsqueeze(0), rows.values.view(shape),
                               parameter.sizes(), parameter.options().layout(at::kSparse), true);
}

}  // namespace pagoda
