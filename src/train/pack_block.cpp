#include "train/pack_block.h"

#include <algorithm>

#include "params/gradient_visit.h"

namespace pagoda {
namespace {

template <class T>
void pack(const ParameterGradient& gradient, const std::vector<double>& weights, const Block& block,
          const at::Tensor& to) {
  T* out = to.mutable_data_ptr<T>();
  if (gradient.form == ParameterGradient::Form::none)
    std::fill(out + block.begin, out + block.end, T{0});
  visit_gradient<T>(gradient, weights, row_elements(to), block.begin, block.end, Sweep::all,
                    [out](std::int64_t offset, std::int64_t count, const T* values) {
                      std::copy_n(values, count, out + offset);
                    });
}

}  // namespace

void pack_block(const ParameterGradient& gradient, const std::vector<double>& weights,
                const Block& block, const at::Tensor& to) {
  if (to.scalar_type() == at::kFloat) {
    pack<float>(gradient, weights, block, to);
  } else {
    pack<double>(gradient, weights, block, to);
  }
}

}  // namespace pagoda
