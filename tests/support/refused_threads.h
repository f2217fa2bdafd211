#pragma once

#include <atomic>
#include <cerrno>
#include <dlfcn.h>
#include <pthread.h>

namespace pagoda::testing {

/// How many threads may still start before one is refused; below 0, all may.
inline std::atomic<int> threads_before_refusal{-1};

/// While it lives, the thread that is started after `count` others is refused, as by a system with
/// too many.
class RefusedThread {
 public:
  explicit RefusedThread(int count) { threads_before_refusal = count; }
  ~RefusedThread() { threads_before_refusal = -1; }
  RefusedThread(const RefusedThread&) = delete;
  RefusedThread& operator=(const RefusedThread&) = delete;
};

}  // namespace pagoda::testing

/// In the program itself, so it stands in for the C library's.
extern "C" __attribute__((weak, used)) int pthread_create(pthread_t* thread,
                                                          const pthread_attr_t* attributes,
                                                          void* (*start)(void*), void* argument) {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto real = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  std::atomic<int>& left = pagoda::testing::threads_before_refusal;
  if (left >= 0 && left.fetch_sub(1) == 0) return EAGAIN;
  return real(thread, attributes, start, argument);
}
