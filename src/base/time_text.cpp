#include <pagoda/base/time_text.h>

#include <ctime>

namespace pagoda {
namespace {

std::string time_text(const char* format, std::tm* (*parts_of)(const std::time_t*, std::tm*)) {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  parts_of(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, format, &parts);
  return text;
}

}  // namespace

std::string local_time_text() { return time_text("%Y-%m-%d %H:%M:%S", localtime_r); }

std::string utc_time_text() { return time_text("%Y-%m-%dT%H:%M:%SZ", gmtime_r); }

}  // namespace pagoda
