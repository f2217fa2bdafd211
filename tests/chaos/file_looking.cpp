// Calls that change nothing, but can fail: reading, looking at directories, locking.

#include <cerrno>
#include <cstdio>
#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "counted_call.h"
#include "watched_path.h"

namespace {

using namespace chaos;

template <class Result, class Real>
Result looked_at_path(const char* name, Effect effect, const char* path, Result failure,
                      Real real) {
  if (!is_counting()) return real();
  const OwnWork own;
  const std::string where = absolute_path(AT_FDCWD, path);
  if (!is_watched(where)) return real();
  return take_look<Result>({Kind::look, name, effect, where}, failure, real);
}

template <class Result, class Real>
Result looked_at_file(const char* name, int descriptor, Result failure, Real real) {
  if (!is_counting()) return real();
  const OwnWork own;
  const std::string where = path_of(descriptor);
  if (!is_watched(where)) return real();
  return take_look<Result>({Kind::look, name, Effect::opens, where}, failure, real);
}

}  // namespace

extern "C" {

ssize_t read(int descriptor, void* data, size_t bytes) {
  CHAOS_REAL(read);
  return looked_at_file<ssize_t>("read", descriptor, -1,
                                 [&] { return real_read(descriptor, data, bytes); });
}

ssize_t pread(int descriptor, void* data, size_t bytes, off_t offset) {
  CHAOS_REAL(pread);
  return looked_at_file<ssize_t>("read", descriptor, -1,
                                 [&] { return real_pread(descriptor, data, bytes, offset); });
}
ssize_t pread64(int descriptor, void* data, size_t bytes, off64_t offset)
    __attribute__((alias("pread")));

/// The stream's own call of read cannot be put in place of; its error flag can be set.
size_t fread(void* data, size_t size, size_t count, std::FILE* file) {
  CHAOS_REAL(fread);
  if (!is_counting()) return real_fread(data, size, count, file);
  const OwnWork own;
  const std::string where = path_of(fileno(file));
  if (!is_watched(where)) return real_fread(data, size, count, file);
  const Call call{Kind::look, "read", Effect::none, where};
  const Verdict verdict = judge(call);
  log_record(call, verdict, {.succeeded = true});
  if (verdict.error == 0) return real_fread(data, size, count, file);
  constexpr int kErrorSeen = 0x20;  // what ferror asks for in glibc
  file->_flags |= kErrorSeen;
  errno = verdict.error;
  return 0;
}

DIR* opendir(const char* path) {
  CHAOS_REAL(opendir);
  return looked_at_path<DIR*>("opendir", Effect::opens, path, nullptr,
                              [&] { return real_opendir(path); });
}

int stat(const char* path, struct stat* state) __THROW {
  CHAOS_REAL(stat);
  return looked_at_path("stat", Effect::none, path, -1, [&] { return real_stat(path, state); });
}

int lstat(const char* path, struct stat* state) __THROW {
  CHAOS_REAL(lstat);
  return looked_at_path("stat", Effect::none, path, -1, [&] { return real_lstat(path, state); });
}

int flock(int descriptor, int operation) __THROW {
  CHAOS_REAL(flock);
  return looked_at_file("flock", descriptor, -1, [&] { return real_flock(descriptor, operation); });
}
}
