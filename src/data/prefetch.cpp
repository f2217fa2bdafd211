#include <pagoda/data/prefetch.h>

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace pagoda {

void stand_back() {
  constexpr int kNice = 5;  // enough to go second, and still a quarter of a contended core
  setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), kNice);
}

}  // namespace pagoda
