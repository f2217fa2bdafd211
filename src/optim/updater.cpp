#include <pagoda/base/error.h>
#include <pagoda/optim/updater.h>

namespace pagoda {

void check_parameters(const std::vector<NamedTensor>& parameters) {
  for (const auto& [name, tensor] : parameters) {
    const bool typed = tensor.scalar_type() == at::kFloat || tensor.scalar_type() == at::kDouble;
    const bool dense = tensor.is_non_overlapping_and_dense();
    if (typed && dense && tensor.is_cpu()) continue;
    throw UsageError("parameter '" + name + "' is " + c10::toString(tensor.scalar_type()) + " on " +
                     tensor.device().str() + (dense ? "" : " with gaps between its elements") +
                     "; an update takes float and double parameters in CPU memory without gaps");
  }
}

}  // namespace pagoda
