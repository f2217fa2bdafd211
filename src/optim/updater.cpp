#include <pagoda/base/error.h>
#include <pagoda/optim/updater.h>

namespace pagoda {

void check_parameters(const std::vector<NamedTensor>& parameters, c10::Device device) {
  for (const auto& [name, tensor] : parameters) {
    const bool typed = tensor.scalar_type() == at::kFloat || tensor.scalar_type() == at::kDouble;
    const bool dense = tensor.is_non_overlapping_and_dense();
    if (typed && dense && tensor.device() == device) continue;
    throw UsageError("parameter '" + name + "' is " + c10::toString(tensor.scalar_type()) + " on " +
                     tensor.device().str() + (dense ? "" : " with gaps between its elements") +
                     "; an update takes float and double parameters on " + device.str() +
                     " without gaps");
  }
}

}  // namespace pagoda
