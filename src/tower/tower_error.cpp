#include <pagoda/tower/tower_error.h>

#include <c10/util/Exception.h>

namespace pagoda {
namespace {

/// The first line of what was thrown; LibTorch's own backtrace is left out.
std::string first_line(const std::exception_ptr& cause) {
  std::string text = "an exception that is not a std::exception";
  try {
    std::rethrow_exception(cause);
  } catch (const c10::Error& error) {
    text = error.what_without_backtrace();
  } catch (const std::exception& error) {
    text = error.what();
  } catch (...) {  // NOLINT: the text above says what it is
  }
  return text.substr(0, text.find('\n'));
}

}  // namespace

TowerError::TowerError(int tower, const std::string& device, const std::string& phase,
                       std::int64_t step, std::exception_ptr cause)
    : Error("tower " + std::to_string(tower) + " (" + device + "), " + phase + ", step " +
            std::to_string(step) + ": " + first_line(cause)),
      tower_(tower),
      device_(device),
      phase_(phase),
      step_(step),
      cause_(std::move(cause)) {}

}  // namespace pagoda
