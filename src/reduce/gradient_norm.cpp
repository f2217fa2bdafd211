#include "reduce/gradient_norm.h"

#include "params/gradient_visit.h"
#include "reduce/card_norm.h"

namespace pagoda {
namespace {

template <class T>
double block_squares(const at::Tensor& parameter, const ParameterGradient& gradient,
                     const std::vector<double>& weights, const Block& block, double l2) {
  double squares = 0;
  const T* values = parameter.const_data_ptr<T>();
  const Sweep sweep = l2 == 0 ? Sweep::touched : Sweep::all;
  visit_gradient<T>(gradient, weights, row_elements(parameter), block.begin, block.end, sweep,
                    [&](std::int64_t offset, std::int64_t count, const T* sum) {
                      squares += l2 == 0 ? square_sum(sum, count)
                                         : square_sum(sum, values + offset, l2, count);
                    });
  return squares;
}

}  // namespace

GradientNorm::GradientNorm(const std::vector<NamedTensor>& parameters)
    : parameters_(parameters), plan_(parameters), squares_(plan_.blocks().size()) {}

void GradientNorm::run_share(const GradientView& gradients, const std::vector<double>& l2,
                             int share, int shares) {
  const auto [begin, end] = plan_.share(share, shares);
  for (std::size_t i = begin; i < end; ++i) {
    const Block& block = plan_.blocks()[i];
    const at::Tensor& parameter = parameters_[block.parameter].tensor;
    const ParameterGradient& gradient = gradients.parameters[block.parameter];
    squares_[i] = parameter.scalar_type() == at::kFloat
                      ? block_squares<float>(parameter, gradient, gradients.weights, block,
                                             l2[block.parameter])
                      : block_squares<double>(parameter, gradient, gradients.weights, block,
                                              l2[block.parameter]);
  }
}

double GradientNorm::squares() const {
  double sum = 0;
  for (const double squares : squares_) sum += squares;
  return sum;
}

double summed_squares(const std::vector<NamedTensor>& parameters,
                      const std::vector<ElementRange>& ranges, const GradientView& gradients,
                      const std::vector<double>& l2) {
  CardSquares squares;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (gradients.parameters[i].form != ParameterGradient::Form::summed) continue;
    if (ranges[i].size() == 0) continue;
    const at::Tensor& parameter = parameters[i].tensor;
    squares.add(elements_of(summed_on(gradients.parameters[i], parameter.device()), ranges[i]),
                gradients.weights.front(), elements_of(parameter, ranges[i]), l2[i]);
  }
  return squares.sum();
}

Clipped clipped(double norm, const std::optional<double>& max_norm) {
  return {.norm = norm, .factor = max_norm && norm > *max_norm ? *max_norm / norm : 1};
}

}  // namespace pagoda
