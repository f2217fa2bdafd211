// Opening and closing of files.

#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

#include "counted_call.h"
#include "watched_path.h"

namespace {

using namespace chaos;

int descriptor_of(int descriptor) { return descriptor; }
int descriptor_of(std::FILE* file) { return fileno(file); }

template <class Result, class Real>
Result opened(int directory, const char* path, int flags, Result failure, Real real) {
  if (!is_counting()) return real();
  const OwnWork own;
  const std::string where = absolute_path(directory, path);
  if (!is_watched(where)) return real();
  if ((flags & O_ACCMODE) == O_RDONLY && (flags & (O_CREAT | O_TRUNC)) == 0) {
    return take_look({Kind::look, "open", Effect::opens, where}, failure, real);
  }
  const std::lock_guard lock(order_of_changes());  // nobody creates it after this look
  const FileFact before = fact_of(where);
  const char* name = !before.exists ? "create" : (flags & O_TRUNC) != 0 ? "truncate" : "open";
  const Effect effect = before.exists ? Effect::opens : Effect::creates;
  return make_change<Result>(
      {Kind::change, name, effect, where}, failure, [&](bool) { return real(); },
      [&](Result result) {
        return Done{.succeeded = true, .inode = fact_of(descriptor_of(result)).inode, .offset = 0};
      });
}

int flags_of(const char* mode) {
  const int access = std::strchr(mode, '+') != nullptr ? O_RDWR
                     : *mode == 'r'                    ? O_RDONLY
                                                       : O_WRONLY;
  return access | (*mode == 'w' ? O_CREAT | O_TRUNC : 0) | (*mode == 'a' ? O_CREAT : 0);
}

mode_t mode_of(int flags, va_list arguments) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
}

/// Closing tells of errors of writing; the descriptor is gone all the same.
template <class Result, class Real>
Result closed(int descriptor, Result failure, Real real) {
  if (!is_counting()) return real();
  const OwnWork own;
  const std::string where = path_of(descriptor);
  const int flags = fcntl(descriptor, F_GETFL);
  if (!is_watched(where) || flags < 0 || (flags & O_ACCMODE) == O_RDONLY) return real();
  const Call call{Kind::look, "close", Effect::syncs, where};
  const Verdict verdict = judge(call);
  const Result result = real();
  log_record(call, verdict, {.succeeded = result != failure});
  if (verdict.error == 0) return result;
  errno = verdict.error;
  return failure;
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  CHAOS_REAL(open);
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return opened(AT_FDCWD, path, flags, -1, [&] { return real_open(path, flags, mode); });
}

int openat(int directory, const char* path, int flags, ...) {
  CHAOS_REAL(openat);
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return opened(directory, path, flags, -1,
                [&] { return real_openat(directory, path, flags, mode); });
}

int open64(const char* path, int flags, ...) __attribute__((alias("open")));
int openat64(int directory, const char* path, int flags, ...) __attribute__((alias("openat")));

int creat(const char* path, mode_t mode) { return open(path, O_WRONLY | O_CREAT | O_TRUNC, mode); }
int creat64(const char* path, mode_t mode) __attribute__((alias("creat")));

std::FILE* fopen(const char* path, const char* mode) {
  CHAOS_REAL(fopen);
  return opened<std::FILE*>(AT_FDCWD, path, flags_of(mode), nullptr,
                            [&] { return real_fopen(path, mode); });
}

std::FILE* fopen64(const char* path, const char* mode) __attribute__((alias("fopen")));

int close(int descriptor) {
  CHAOS_REAL(close);
  return closed(descriptor, -1, [&] { return real_close(descriptor); });
}

int fclose(std::FILE* file) {
  CHAOS_REAL(fclose);
  return closed(fileno(file), EOF, [&] { return real_fclose(file); });
}
}
