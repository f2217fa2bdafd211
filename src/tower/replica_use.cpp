#include "tower/replica_use.h"

#include <pagoda/base/error.h>

#include <string>

namespace pagoda {

void check_free(const ReplicaUse& use, const void* step, const char* what) {
  if (use.stand_ins > 0) {
    throw UsageError(std::string(what) +
                     " needs the parameters, but their moving average stands in for them; end the "
                     "AveragedParameters first");
  }
  if (use.at_work != nullptr && use.at_work != step) {
    throw UsageError(std::string(what) +
                     " needs all towers, but another step is still at work on them; call its "
                     "finish() first");
  }
}

}  // namespace pagoda
