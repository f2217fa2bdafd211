#include "models/token_check.h"

#include <pagoda/base/error.h>

#include <sstream>
#include <string>

namespace pagoda {

void check_tokens(const at::Tensor& tokens, std::int64_t vocabulary, const char* what) {
  if (!tokens.is_cpu()) return;
  const at::Tensor ids = tokens.contiguous();
  const auto* id = ids.const_data_ptr<std::int64_t>();
  for (std::int64_t i = 0; i < ids.numel(); ++i) {
    if (id[i] >= 0 && id[i] < vocabulary) continue;
    throw DataError(std::string(what) + " " + std::to_string(i) + " is token " +
                    std::to_string(id[i]) + ", which is outside the vocabulary of " +
                    std::to_string(vocabulary) + " tokens; tokens count from 0 to " +
                    std::to_string(vocabulary - 1));
  }
}

void check_targets(const at::Tensor& targets, const at::Tensor& hidden, std::int64_t vocabulary) {
  if (targets.scalar_type() != at::kLong || targets.dim() != 1 ||
      targets.size(0) != hidden.size(0)) {
    std::ostringstream text;
    text << "targets of type " << targets.scalar_type() << " and shape " << targets.sizes()
         << " do not belong to outputs of shape " << hidden.sizes()
         << "; give one target of type Long for each row";
    throw UsageError(text.str());
  }
  check_tokens(targets, vocabulary, "target");
}

}  // namespace pagoda
