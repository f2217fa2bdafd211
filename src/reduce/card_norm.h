#pragma once

#include <pagoda/params/parameter_table.h>

#include <vector>

namespace pagoda {

/// Squares of gradients that stay on their card, added up there: one number comes back.
class CardSquares {
 public:
  /// Those of scale · gradient + l2 · parameter.
  void add(const at::Tensor& gradient, double scale, const at::Tensor& parameter, double l2);

  double sum() const;

 private:
  std::vector<at::Tensor> numbers_;
};

/// The norm of `scale` times the gradients that these parameters have now, with l2[i] times
/// parameter i added as in GradientNorm. A parameter without a gradient does not count.
double own_gradient_norm(const std::vector<NamedTensor>& parameters, double scale,
                         const std::vector<double>& l2);

/// Multiplies the gradients that these parameters have now, into memory of their own: two of them
/// may share what they have.
void scale_gradients(const std::vector<NamedTensor>& parameters, double factor);

}  // namespace pagoda
