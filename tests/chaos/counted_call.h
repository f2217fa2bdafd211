#pragma once
// How a function of the C library is put in place of, judged and recorded.

#include <cerrno>
#include <dlfcn.h>
#include <mutex>

#include "call_plan.h"

namespace chaos {

/// The function of that name that would be called without this library.
template <class Function>
Function next_function(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

/// Makes a change that is wanted by `call`; `describe` says what came of it.
/// `real` is told whether to write only half.
template <class Result, class Real, class Describe>
Result make_change(const Call& call, Result failure, Real real, Describe describe) {
  const std::lock_guard lock(order_of_changes());
  const Verdict verdict = judge(call);
  if (verdict.error != 0) {
    log_record(call, verdict, {});
    errno = verdict.error;
    return failure;
  }
  const Result result = real(verdict.is_cut);
  log_record(call, verdict, result == failure ? Done{} : describe(result));
  return result;
}

/// A call that changes nothing but can fail.
template <class Result, class Real>
Result take_look(const Call& call, Result failure, Real real) {
  const Verdict verdict = judge(call);
  if (verdict.error != 0) {
    log_record(call, verdict, {});
    errno = verdict.error;
    return failure;
  }
  const Result result = real();
  log_record(call, verdict, {.succeeded = result != failure});
  return result;
}

}  // namespace chaos

/// In a function that stands in for one of the C library: that one.
#define CHAOS_REAL(name) \
  static const auto real_##name = chaos::next_function<decltype(&::name)>(#name)
