#pragma once

#include <cstdint>

namespace pagoda {

/// The `best` greatest of a row, greatest first, the first of equal ones; -1 fills up where fewer are
/// above minus infinity.
template <class T>
struct TopOfRow {
  const T* values;
  std::int64_t count;
  std::int64_t best;
  std::int64_t* places;  ///< `best` of them, out
};
void find_top(const TopOfRow<float>& row);
void find_top(const TopOfRow<double>& row);

/// log(Σ exp(value)) of a row.
double log_sum_exp(const float* values, std::int64_t count);
double log_sum_exp(const double* values, std::int64_t count);

/// How many numbers attend_one writes on the way: whole vectors of 32 bytes.
template <class T>
constexpr std::int64_t attention_scratch(std::int64_t places) {
  constexpr std::int64_t kWidth = 32 / sizeof(T);
  return (places + kWidth - 1) / kWidth * kWidth;
}

/// One query against the keys of one row, for all heads: the query, keys and values have
/// `heads` · `size` numbers each.
template <class T>
struct AttendOne {
  const T* query;
  std::int64_t heads;
  std::int64_t size;
  const T* const* keys;    ///< where each place's key is
  const T* const* values;  ///< and its value
  std::int64_t places;
  T* scratch;       ///< attention_scratch(places) numbers
  T* result;        ///< heads · size
  double* weights;  ///< if not null: the mean over the heads, `places` numbers
  /// What the next call will read: memory is asked for it meanwhile.
  const T* const* next_keys = nullptr;
  const T* const* next_values = nullptr;
  std::int64_t next_places = 0;
};
void attend_one(const AttendOne<float>& one);
void attend_one(const AttendOne<double>& one);

/// Rows divided by their greatest magnitudes, so that they are from -1 to 1; a row of zeros stays one.
struct ScaleRows {
  const float* values;  ///< rows · width
  std::int64_t rows;
  std::int64_t width;
  float* scaled;    ///< rows · width, out
  float* greatest;  ///< of each row, out
};
void scale_rows(const ScaleRows& all);

/// Rows in place: times a factor each, and a bias added.
struct UnscaleRows {
  float* values;  ///< rows · width
  std::int64_t rows;
  std::int64_t width;
  const float* factors;  ///< of each row
  const float* bias;     ///< `width` numbers
};
void unscale_rows(const UnscaleRows& all);

}  // namespace pagoda
