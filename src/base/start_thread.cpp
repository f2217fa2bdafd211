#include <pagoda/base/error.h>
#include <pagoda/base/error_text.h>
#include <pagoda/base/start_thread.h>

#include <system_error>
#include <utility>

namespace pagoda {

std::thread start_thread(const std::string& purpose, std::function<void()> work) {
  try {
    return std::thread(std::move(work));
  } catch (const std::system_error&) {
    throw DeviceError(purpose + ": " + error_text(std::current_exception()));
  }
}

}  // namespace pagoda
