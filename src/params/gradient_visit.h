#pragma once

#include <pagoda/params/gradient_view.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "params/span_kernels.h"

namespace pagoda {

/// Which elements of a row-sparse gradient a sweep has to see.
enum class Sweep {
  all,      ///< every element; the gradient is zero in rows that were not touched
  touched,  ///< only the touched rows
};

/// Elements that a sweep hands over at a time: small enough for the first-level cache.
inline constexpr std::int64_t kSpanElements = 1024;

namespace detail {

/// Adds to the sum, or begins it if this is the first share.
template <class T>
void accumulate(T* sum, const T* values, T weight, std::int64_t count, bool& first) {
  if (first) {
    scale_span(sum, values, weight, count);
  } else {
    add_span(sum, values, weight, count);
  }
  first = false;
}

/// The gradient where a single tower has one and it counts in full, as in an asynchronous update;
/// it is then read where it lies. Null otherwise.
template <class T>
const T* only_gradient(const ParameterGradient& gradient, const std::vector<double>& weights) {
  const T* only = nullptr;
  for (std::size_t tower = 0; tower < gradient.towers.size(); ++tower) {
    if (!gradient.towers[tower].defined()) continue;
    if (only != nullptr || weights[tower] != 1) return nullptr;
    only = gradient.towers[tower].template const_data_ptr<T>();
  }
  return only;
}

template <class T, class Visit>
void visit_dense(const ParameterGradient& gradient, const std::vector<double>& weights,
                 std::int64_t begin, std::int64_t end, Visit visit) {
  const T* only = only_gradient<T>(gradient, weights);
  alignas(64) T sum[kSpanElements];
  for (std::int64_t offset = begin; offset < end; offset += kSpanElements) {
    const std::int64_t count = std::min(kSpanElements, end - offset);
    if (only != nullptr) {
      visit(offset, count, only + offset);
      continue;
    }
    bool first = true;
    for (std::size_t tower = 0; tower < gradient.towers.size(); ++tower) {
      if (!gradient.towers[tower].defined()) continue;
      const T* values = gradient.towers[tower].template const_data_ptr<T>() + offset;
      accumulate(sum, values, static_cast<T>(weights[tower]), count, first);
    }
    if (first) std::fill_n(sum, count, T{0});  // every tower's is undefined
    visit(offset, count, static_cast<const T*>(sum));
  }
}

template <class T, class Visit>
void visit_zero(std::int64_t begin, std::int64_t end, Visit visit) {
  alignas(64) static constexpr T kZero[kSpanElements] = {};
  for (std::int64_t offset = begin; offset < end; offset += kSpanElements) {
    visit(offset, std::min(kSpanElements, end - offset), static_cast<const T*>(kZero));
  }
}

template <class T, class Visit>
void visit_row(const TouchedRow& row, const std::vector<double>& weights, std::int64_t row_elements,
               Visit visit) {
  alignas(64) T sum[kSpanElements];
  for (std::int64_t offset = 0; offset < row_elements; offset += kSpanElements) {
    const std::int64_t count = std::min(kSpanElements, row_elements - offset);
    bool first = true;
    for (const auto& [tower, values] : row.shares) {
      const T weight = static_cast<T>(weights[static_cast<std::size_t>(tower)]);
      accumulate(sum, static_cast<const T*>(values) + offset, weight, count, first);
    }
    visit(row.row * row_elements + offset, count, static_cast<const T*>(sum));
  }
}

}  // namespace detail

/// Calls `visit(offset, count, gradient)` for consecutive spans of at most kSpanElements elements
/// that cover [begin, end) of one parameter in memory order; `gradient` is the weighted sum over
/// the towers (valid during the call) in the parameter's type T. Form::none and Form::summed visit
/// nothing.
///
/// For Form::rows, `row_elements` is the length of a row and [begin, end) must consist of whole
/// rows.
template <class T, class Visit>
void visit_gradient(const ParameterGradient& gradient, const std::vector<double>& weights,
                    std::int64_t row_elements, std::int64_t begin, std::int64_t end, Sweep sweep,
                    Visit visit) {
  if (gradient.form == ParameterGradient::Form::none ||
      gradient.form == ParameterGradient::Form::summed)
    return;
  if (gradient.form == ParameterGradient::Form::dense) {
    return detail::visit_dense<T>(gradient, weights, begin, end, visit);
  }
  auto row =
      std::lower_bound(gradient.touched.begin(), gradient.touched.end(), begin / row_elements,
                       [](const TouchedRow& entry, std::int64_t r) { return entry.row < r; });
  for (std::int64_t done = begin; done < end;) {
    const bool last = row == gradient.touched.end() || row->row * row_elements >= end;
    const std::int64_t next = last ? end : row->row * row_elements;
    if (sweep == Sweep::all) detail::visit_zero<T>(done, next, visit);
    if (last) return;
    detail::visit_row<T>(*row, weights, row_elements, visit);
    done = next + row_elements;
    ++row;
  }
}

}  // namespace pagoda
