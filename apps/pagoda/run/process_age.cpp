#include "run/process_age.h"

#include <ctime>
#include <fstream>
#include <sstream>
#include <string>
#include <unistd.h>

namespace pagoda::app {

double process_age() {
  std::string stat;
  std::getline(std::ifstream("/proc/self/stat"), stat);
  // The second field is a name in brackets that may have anything in it; the 22nd is the start.
  std::istringstream fields(stat.substr(stat.rfind(')') + 1));
  std::string field;
  for (int number = 3; number <= 22; ++number) fields >> field;
  std::timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  const double start =
      std::strtod(field.c_str(), nullptr) / static_cast<double>(::sysconf(_SC_CLK_TCK));
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9 - start;
}

}  // namespace pagoda::app
