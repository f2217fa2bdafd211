// Changes of directories: names that appear, move and go.

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "counted_call.h"
#include "watched_path.h"

namespace {

using namespace chaos;

template <class Real>
int named(const char* name, Effect effect, int directory, const char* path, Real real) {
  if (!is_counting()) return real();
  const OwnWork own;
  const std::string where = absolute_path(directory, path);
  if (!is_watched(where)) return real();
  return make_change<int>(
      {Kind::change, name, effect, where}, -1, [&](bool) { return real(); },
      [](int) { return Done{.succeeded = true}; });
}

struct Place {
  int directory;
  const char* path;
};

/// A change with two names; `from` of a symbolic link is its text.
template <class Real>
int paired(const char* name, Place from, Place to, Real real) {
  if (!is_counting()) return real();
  const OwnWork own;
  const std::string second = absolute_path(to.directory, to.path);
  if (!is_watched(second)) return real();
  const std::string first = *name == 's' ? from.path : absolute_path(from.directory, from.path);
  return make_change<int>(
      {Kind::change, name, Effect::creates, first, second}, -1, [&](bool) { return real(); },
      [](int) { return Done{.succeeded = true}; });
}

/// The name is known only once it is made: the record has the pattern's directory if that fails.
template <class Real>
char* made_directory(char* pattern, Real real) {
  if (!is_counting()) return real();
  const OwnWork own;
  const std::string asked = absolute_path(AT_FDCWD, pattern);
  if (!is_watched(asked)) return real();
  const std::lock_guard lock(order_of_changes());
  const Call wanted{Kind::change, "mkdir", Effect::creates, asked};
  const Verdict verdict = judge(wanted);
  if (verdict.error != 0) {
    log_record(wanted, verdict, {});
    errno = verdict.error;
    return nullptr;
  }
  char* const result = real();
  const std::string where = result == nullptr ? asked : absolute_path(AT_FDCWD, pattern);
  log_record({Kind::change, "mkdir", Effect::creates, where}, verdict,
             {.succeeded = result != nullptr});
  return result;
}

}  // namespace

extern "C" {

int mkdir(const char* path, mode_t mode) __THROW {
  CHAOS_REAL(mkdir);
  return named("mkdir", Effect::creates, AT_FDCWD, path, [&] { return real_mkdir(path, mode); });
}

int mkdirat(int directory, const char* path, mode_t mode) __THROW {
  CHAOS_REAL(mkdirat);
  return named("mkdir", Effect::creates, directory, path,
               [&] { return real_mkdirat(directory, path, mode); });
}

char* mkdtemp(char* pattern) __THROW {
  CHAOS_REAL(mkdtemp);
  return made_directory(pattern, [&] { return real_mkdtemp(pattern); });
}

int unlink(const char* path) __THROW {
  CHAOS_REAL(unlink);
  return named("unlink", Effect::none, AT_FDCWD, path, [&] { return real_unlink(path); });
}

int rmdir(const char* path) __THROW {
  CHAOS_REAL(rmdir);
  return named("rmdir", Effect::none, AT_FDCWD, path, [&] { return real_rmdir(path); });
}

int unlinkat(int directory, const char* path, int flags) __THROW {
  CHAOS_REAL(unlinkat);
  return named((flags & AT_REMOVEDIR) != 0 ? "rmdir" : "unlink", Effect::none, directory, path,
               [&] { return real_unlinkat(directory, path, flags); });
}

int remove(const char* path) __THROW {
  struct stat state;
  if (lstat(path, &state) == 0 && S_ISDIR(state.st_mode)) return rmdir(path);
  return unlink(path);
}

int rename(const char* from, const char* to) __THROW {
  CHAOS_REAL(rename);
  return paired("rename", {AT_FDCWD, from}, {AT_FDCWD, to}, [&] { return real_rename(from, to); });
}

int renameat(int from_directory, const char* from, int to_directory, const char* to) __THROW {
  CHAOS_REAL(renameat);
  return paired("rename", {from_directory, from}, {to_directory, to},
                [&] { return real_renameat(from_directory, from, to_directory, to); });
}

int renameat2(int from_directory, const char* from, int to_directory, const char* to,
              unsigned flags) __THROW {
  CHAOS_REAL(renameat2);
  return paired((flags & RENAME_EXCHANGE) != 0 ? "exchange" : "rename", {from_directory, from},
                {to_directory, to},
                [&] { return real_renameat2(from_directory, from, to_directory, to, flags); });
}

int link(const char* from, const char* to) __THROW {
  CHAOS_REAL(link);
  return paired("link", {AT_FDCWD, from}, {AT_FDCWD, to}, [&] { return real_link(from, to); });
}

int linkat(int from_directory, const char* from, int to_directory, const char* to,
           int flags) __THROW {
  CHAOS_REAL(linkat);
  return paired("link", {from_directory, from}, {to_directory, to},
                [&] { return real_linkat(from_directory, from, to_directory, to, flags); });
}

int symlink(const char* text, const char* to) __THROW {
  CHAOS_REAL(symlink);
  return paired("symlink", {AT_FDCWD, text}, {AT_FDCWD, to},
                [&] { return real_symlink(text, to); });
}
}
