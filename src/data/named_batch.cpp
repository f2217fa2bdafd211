#include <pagoda/base/error.h>
#include <pagoda/data/named_batch.h>

namespace pagoda {

const at::Tensor& NamedBatch::get(const std::string& name) const {
  const auto found = tensors.find(name);
  if (found != tensors.end()) return found->second;
  std::string names;
  for (const auto& [other, tensor] : tensors) names += (names.empty() ? "'" : ", '") + other + "'";
  throw UsageError("the data has no tensor '" + name + "'; it has " +
                   (names.empty() ? "none" : names));
}

}  // namespace pagoda
