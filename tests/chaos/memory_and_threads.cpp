// Memory and threads that are refused.

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <string_view>

#include "counted_call.h"

extern "C" {
// glibc's own, under the names it keeps for those who stand in for them.
void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* block, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);
}

namespace {

using namespace chaos;

/// oneDNN and MKL, which are part of libtorch_cpu, do not look whether they got memory for their own
/// notes, or take another kernel, with other last bits, if they did not. Tensors are libc10's.
bool is_of_kernel_libraries(const void* caller) {
  Dl_info found{};
  return dladdr(caller, &found) != 0 && found.dli_fname != nullptr &&
         std::string_view(found.dli_fname).find("libtorch_cpu") != std::string_view::npos;
}

/// Whether the program is to be told that there is no memory. Quick for small allocations: there are
/// millions, many of them before anything of this library is initialised.
bool is_refused(std::size_t bytes, const char* name, const void* caller) {
  if (bytes < smallest_counted_allocation().load(std::memory_order_relaxed)) return false;
  if (!is_counting()) return false;
  const OwnWork own;
  if (is_of_kernel_libraries(caller)) return false;
  const Call call{Kind::memory, name};
  const Verdict verdict = judge(call);
  log_record(call, verdict, {.succeeded = true, .bytes = bytes});
  if (verdict.error != 0) errno = ENOMEM;
  return verdict.error != 0;
}

}  // namespace

extern "C" {

void* malloc(size_t bytes) __THROW {
  return is_refused(bytes, "malloc", __builtin_return_address(0)) ? nullptr : __libc_malloc(bytes);
}

void* calloc(size_t count, size_t bytes) __THROW {
  return is_refused(count * bytes, "calloc", __builtin_return_address(0))
             ? nullptr
             : __libc_calloc(count, bytes);
}

void* realloc(void* block, size_t bytes) __THROW {
  return is_refused(bytes, "realloc", __builtin_return_address(0)) ? nullptr
                                                                   : __libc_realloc(block, bytes);
}

void* memalign(size_t alignment, size_t bytes) __THROW {
  return is_refused(bytes, "memalign", __builtin_return_address(0))
             ? nullptr
             : __libc_memalign(alignment, bytes);
}

void* aligned_alloc(size_t alignment, size_t bytes) __THROW {
  return is_refused(bytes, "aligned_alloc", __builtin_return_address(0))
             ? nullptr
             : __libc_memalign(alignment, bytes);
}

int posix_memalign(void** block, size_t alignment, size_t bytes) __THROW {
  if (is_refused(bytes, "posix_memalign", __builtin_return_address(0))) return ENOMEM;
  *block = __libc_memalign(alignment, bytes);
  return *block == nullptr ? ENOMEM : 0;
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                   void* argument) __THROWNL {
  CHAOS_REAL(pthread_create);
  if (!is_counting()) return real_pthread_create(thread, attributes, start, argument);
  const OwnWork own;
  const Call call{Kind::thread, "pthread_create"};
  const Verdict verdict = judge(call);
  log_record(call, verdict, {.succeeded = true});
  if (verdict.error != 0) return EAGAIN;
  return real_pthread_create(thread, attributes, start, argument);
}
}
