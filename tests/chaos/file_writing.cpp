// Writing into files that are open.

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

#include "counted_call.h"
#include "watched_path.h"

namespace {

using namespace chaos;

std::size_t half(std::size_t bytes) { return std::max<std::size_t>(1, bytes / 2); }

/// `real` writes as many bytes as it is told.
template <class Real>
ssize_t written(int descriptor, std::size_t bytes, long offset, Real real) {
  if (!is_counting() || bytes == 0) return real(bytes);
  const OwnWork own;
  const std::string where = path_of(descriptor);
  if (!is_watched(where)) return real(bytes);
  std::string copy;
  return make_change<ssize_t>(
      {Kind::change, "write", Effect::writes, where}, -1,
      [&](bool is_cut) { return real(is_cut ? half(bytes) : bytes); },
      [&](ssize_t count) {
        const long at = offset >= 0 ? offset : lseek(descriptor, 0, SEEK_CUR) - count;
        copy = bytes_of(descriptor, at, static_cast<std::size_t>(count));
        return Done{.succeeded = true,
                    .inode = fact_of(descriptor).inode,
                    .offset = at,
                    .data = copy.data(),
                    .bytes = copy.size()};
      });
}

template <class Real>
int resized(const std::string& where, long size, Real real) {
  return make_change<int>(
      {Kind::change, "resize", Effect::writes, where}, -1, [&](bool) { return real(); },
      [&](int) { return Done{.succeeded = true, .inode = fact_of(where).inode, .offset = size}; });
}

template <class Real>
int synced(int descriptor, const char* name, Real real) {
  if (!is_counting()) return real();
  const OwnWork own;
  const std::string where = path_of(descriptor);
  if (!is_watched(where)) return real();
  return make_change<int>(
      {Kind::change, name, Effect::syncs, where}, -1, [&](bool) { return real(); },
      [&](int) { return Done{.succeeded = true, .inode = fact_of(descriptor).inode}; });
}

}  // namespace

extern "C" {

ssize_t write(int descriptor, const void* data, size_t bytes) {
  CHAOS_REAL(write);
  return written(descriptor, bytes, -1,
                 [&](std::size_t count) { return real_write(descriptor, data, count); });
}

ssize_t pwrite(int descriptor, const void* data, size_t bytes, off_t offset) {
  CHAOS_REAL(pwrite);
  return written(descriptor, bytes, offset,
                 [&](std::size_t count) { return real_pwrite(descriptor, data, count, offset); });
}
ssize_t pwrite64(int descriptor, const void* data, size_t bytes, off64_t offset)
    __attribute__((alias("pwrite")));

ssize_t writev(int descriptor, const iovec* parts, int count) {
  CHAOS_REAL(writev);
  std::size_t bytes = 0;
  for (int i = 0; i < count; ++i) bytes += parts[i].iov_len;
  return written(descriptor, bytes, -1, [&](std::size_t wanted) {
    if (wanted == bytes) return real_writev(descriptor, parts, count);
    const iovec first{parts[0].iov_base, half(parts[0].iov_len)};
    return real_writev(descriptor, &first, 1);
  });
}

ssize_t sendfile(int out, int in, off_t* offset, size_t bytes) __THROW {
  CHAOS_REAL(sendfile);
  return written(out, bytes, -1,
                 [&](std::size_t count) { return real_sendfile(out, in, offset, count); });
}
ssize_t sendfile64(int out, int in, off64_t* offset, size_t bytes) __THROW
    __attribute__((alias("sendfile")));

ssize_t copy_file_range(int in, off64_t* in_at, int out, off64_t* out_at, size_t bytes,
                        unsigned flags) {
  CHAOS_REAL(copy_file_range);
  return written(out, bytes, out_at == nullptr ? -1 : *out_at, [&](std::size_t count) {
    return real_copy_file_range(in, in_at, out, out_at, count, flags);
  });
}

int ftruncate(int descriptor, off_t size) __THROW {
  CHAOS_REAL(ftruncate);
  if (!is_counting()) return real_ftruncate(descriptor, size);
  const OwnWork own;
  const std::string where = path_of(descriptor);
  if (!is_watched(where)) return real_ftruncate(descriptor, size);
  return resized(where, size, [&] { return real_ftruncate(descriptor, size); });
}
int ftruncate64(int descriptor, off64_t size) __THROW __attribute__((alias("ftruncate")));

int truncate(const char* path, off_t size) __THROW {
  CHAOS_REAL(truncate);
  if (!is_counting()) return real_truncate(path, size);
  const OwnWork own;
  const std::string where = absolute_path(AT_FDCWD, path);
  if (!is_watched(where)) return real_truncate(path, size);
  return resized(where, size, [&] { return real_truncate(path, size); });
}
int truncate64(const char* path, off64_t size) __THROW __attribute__((alias("truncate")));

int fsync(int descriptor) {
  CHAOS_REAL(fsync);
  return synced(descriptor, "fsync", [&] { return real_fsync(descriptor); });
}

int fdatasync(int descriptor) {
  CHAOS_REAL(fdatasync);
  return synced(descriptor, "fsync", [&] { return real_fdatasync(descriptor); });
}
}
