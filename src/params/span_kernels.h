#pragma once

#include <cstdint>

namespace pagoda {

/// Loops over a run of elements, vectorised for the machine. Pointers must not overlap.
/// The bits of a result do not depend on the machine's instruction set.

/// out[i] = weight * in[i]
void scale_span(float* out, const float* in, float weight, std::int64_t count);
void scale_span(double* out, const double* in, double weight, std::int64_t count);

/// out[i] += weight * in[i]
void add_span(float* out, const float* in, float weight, std::int64_t count);
void add_span(double* out, const double* in, double weight, std::int64_t count);

/// The sum of values[i]², in double precision.
double square_sum(const float* values, std::int64_t count);
double square_sum(const double* values, std::int64_t count);

/// The sum of (gradient[i] + l2 * parameter[i])², in double precision.
double square_sum(const float* gradient, const float* parameter, double l2, std::int64_t count);
double square_sum(const double* gradient, const double* parameter, double l2, std::int64_t count);

}  // namespace pagoda
