#include <pagoda/base/error_text.h>
#include <pagoda/tower/tower_error.h>

namespace pagoda {

TowerError::TowerError(int tower, const std::string& device, const std::string& phase,
                       std::int64_t step, std::exception_ptr cause)
    : Error("tower " + std::to_string(tower) + " (" + device + "), " + phase + ", step " +
            std::to_string(step) + ": " + error_text(cause)),
      tower_(tower),
      device_(device),
      phase_(phase),
      step_(step),
      cause_(std::move(cause)) {}

}  // namespace pagoda
