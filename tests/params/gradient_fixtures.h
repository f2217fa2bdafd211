#pragma once

// Tensors and gradients for the tests of params/ and optim/: values are formulas of tower and
// index.

#include <pagoda/params/gradient_view.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros_like.h>
#include <gtest/gtest.h>

namespace pagoda::testing {

/// A tensor of the type and memory layout of `like` whose element i in memory order is value(i).
inline at::Tensor filled_like(const at::Tensor& like,
                              const std::function<double(std::int64_t)>& value) {
  at::Tensor tensor = at::empty_like(like.detach(), like.options().dtype(at::kDouble));
  double* elements = tensor.mutable_data_ptr<double>();
  for (std::int64_t i = 0; i < tensor.numel(); ++i) elements[i] = value(i);
  return tensor.to(like.scalar_type());
}

inline at::Tensor filled(at::IntArrayRef shape, at::ScalarType type,
                         const std::function<double(std::int64_t)>& value) {
  return filled_like(at::empty(shape, type), value);
}

inline ParameterGradient dense_gradient(std::vector<at::Tensor> towers) {
  ParameterGradient gradient;
  gradient.form = ParameterGradient::Form::dense;
  gradient.towers = std::move(towers);
  return gradient;
}

/// The rows that one tower touched; values[i] is the gradient of rows[i].
struct TowerRows {
  std::vector<std::int64_t> rows;
  at::Tensor values;
};

inline ParameterGradient row_gradient(const std::vector<TowerRows>& towers) {
  ParameterGradient gradient;
  gradient.form = ParameterGradient::Form::rows;
  std::map<std::int64_t, std::vector<TouchedRow::Share>> shares;
  for (std::size_t tower = 0; tower < towers.size(); ++tower) {
    const auto& [rows, values] = towers[tower];
    gradient.towers.push_back(values);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const at::Tensor row = values[static_cast<std::int64_t>(i)];
      shares[rows[i]].push_back({static_cast<int>(tower), row.const_data_ptr()});
    }
  }
  for (auto& [row, of_row] : shares) gradient.touched.push_back({row, std::move(of_row)});
  return gradient;
}

/// The same gradient with a value for every row.
inline at::Tensor as_dense(const TowerRows& tower, const at::Tensor& parameter) {
  at::Tensor dense = at::zeros_like(parameter.detach());
  for (std::size_t i = 0; i < tower.rows.size(); ++i) {
    dense[tower.rows[i]].copy_(tower.values[static_cast<std::int64_t>(i)]);
  }
  return dense;
}

inline bool same_bits(const at::Tensor& a, const at::Tensor& b) {
  const auto bits = [](const at::Tensor& tensor) {
    return tensor.detach().view(tensor.element_size() == 4 ? at::kInt : at::kLong);
  };
  return a.scalar_type() == b.scalar_type() && bits(a).equal(bits(b));
}

/// Whether every element is within tolerance * max(1, |expected|).
inline ::testing::AssertionResult all_near(const at::Tensor& actual, const at::Tensor& expected,
                                           double tolerance) {
  if (actual.sizes() != expected.sizes())
    return ::testing::AssertionFailure() << "the shapes differ";
  const at::Tensor a = actual.detach().to(at::kDouble).contiguous();
  const at::Tensor e = expected.detach().to(at::kDouble).contiguous();
  for (std::int64_t i = 0; i < a.numel(); ++i) {
    const double found = a.const_data_ptr<double>()[i];
    const double wanted = e.const_data_ptr<double>()[i];
    if (!(std::abs(found - wanted) <= tolerance * std::max(1.0, std::abs(wanted)))) {
      return ::testing::AssertionFailure()
             << "element " << i << " is " << found << ", not " << wanted;
    }
  }
  return ::testing::AssertionSuccess();
}

}  // namespace pagoda::testing
