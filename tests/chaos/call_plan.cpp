#include "call_plan.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace chaos {
namespace {

constexpr std::array kKindNames{"change", "look", "thread", "memory"};

struct Plan {
  bool is_active = false;
  std::string directories;  // each with a colon on both sides
  int log = -1;
  bool has_data = false;
  long kill_at = 0;
  int fail_kind = -1;
  long fail_at = 0;
  bool fails_on = false;
  bool is_cut = false;
  int error = 0;
  std::array<std::atomic<long>, kKindNames.size()> numbers{};
};

Plan& plan() {
  static Plan the_plan;
  return the_plan;
}

constinit thread_local int own_work = 0;
constinit std::atomic<std::size_t> smallest_allocation = static_cast<std::size_t>(-1);

std::string setting(const char* name) {
  const char* value = getenv(name);
  return value == nullptr ? "" : value;
}

void read_failure(Plan& plan) {
  const std::string text = setting("CHAOS_FAIL");
  const auto first = text.find(':');
  const auto second = text.find(':', first + 1);
  if (second == std::string::npos) return;
  for (std::size_t i = 0; i < kKindNames.size(); ++i) {
    if (text.substr(0, first) == kKindNames[i]) plan.fail_kind = static_cast<int>(i);
  }
  plan.fail_at = std::atol(text.c_str() + first + 1);
  plan.fails_on = text[second - 1] == '+';
  const std::string how = text.substr(second + 1);
  plan.is_cut = how == "cut";
  plan.error = plan.is_cut ? 0 : std::atoi(how.c_str());
}

void write_all(int descriptor, const char* data, std::size_t bytes) {
  while (bytes > 0) {
    const long written = syscall(SYS_write, descriptor, data, bytes);
    if (written <= 0) return;
    data += written;
    bytes -= static_cast<std::size_t>(written);
  }
}

/// A full disk refuses no reading, only what opens a file can run out of descriptors, and only what locks
/// one out of locks.
bool can_end_so(const Call& call, const Plan& plan) {
  if (plan.is_cut) return call.effect == Effect::writes;
  switch (plan.error) {
    case EMFILE:
      return call.effect == Effect::opens || call.effect == Effect::creates;
    case ENOSPC:
      return call.effect == Effect::creates || call.effect == Effect::writes ||
             call.effect == Effect::syncs;
    case ENOLCK:
      return std::string_view(call.name) == "flock";
    case EINTR:
      return call.effect != Effect::none;
    default:
      return true;
  }
}

const char* outcome(const Verdict& verdict, const Done& done) {
  if (verdict.error != 0) return "failed";
  if (!done.succeeded) return "error";
  return verdict.is_cut ? "cut" : "done";
}

void write_record(const Call& call, long number, const char* outcome, const Done& done) {
  const Plan& settings = plan();
  if (settings.log < 0) return;
  const std::size_t bytes = settings.has_data && done.data != nullptr ? done.bytes : 0;
  std::string line = std::to_string(number);
  for (const std::string& field :
       {std::string(kKindNames[static_cast<std::size_t>(call.kind)]), std::string(call.name),
        std::string(outcome), std::to_string(done.inode), std::to_string(done.offset),
        std::to_string(done.bytes), std::to_string(bytes), std::string(call.path),
        std::string(call.second_path)}) {
    line += '\t' + field;
  }
  line += '\n';
  if (bytes > 0) line.append(static_cast<const char*>(done.data), bytes);
  write_all(settings.log, line.data(), line.size());
}

}  // namespace

void begin_plan() {
  const OwnWork own;
  Plan& settings = plan();
  const std::string directories = setting("CHAOS_DIRECTORIES");
  if (directories.empty()) return;
  settings.directories = ':' + directories + ':';
  if (const std::string log = setting("CHAOS_LOG"); !log.empty()) {
    settings.log = static_cast<int>(syscall(SYS_openat, AT_FDCWD, log.c_str(),
                                            O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  }
  settings.has_data = !setting("CHAOS_LOG_DATA").empty();
  settings.kill_at = std::atol(setting("CHAOS_KILL").c_str());
  read_failure(settings);
  settings.is_active = true;
  if (const long bytes = std::atol(setting("CHAOS_BYTES").c_str()); bytes > 0)
    smallest_allocation = static_cast<std::size_t>(bytes);
}

bool is_counting() { return own_work == 0 && plan().is_active; }

bool is_watched(std::string_view path) {
  const std::string& all = plan().directories;
  for (std::size_t begin = 1; begin < all.size();) {
    const std::size_t end = all.find(':', begin);
    const std::string_view directory(all.data() + begin, end - begin);
    if (path.starts_with(directory) &&
        (path.size() == directory.size() || path[directory.size()] == '/'))
      return true;
    begin = end + 1;
  }
  return false;
}

Verdict judge(const Call& call) {
  Plan& settings = plan();
  const auto kind = static_cast<std::size_t>(call.kind);
  Verdict verdict{.number = ++settings.numbers[kind]};
  if (call.kind == Kind::change && verdict.number == settings.kill_at) {
    write_record(call, verdict.number, "killed", {});
    syscall(SYS_kill, getpid(), SIGKILL);
  }
  if (static_cast<int>(kind) != settings.fail_kind) return verdict;
  const bool is_due =
      settings.fails_on ? verdict.number >= settings.fail_at : verdict.number == settings.fail_at;
  if (is_due && can_end_so(call, settings)) {
    verdict.error = settings.error;
    verdict.is_cut = settings.is_cut;
  }
  return verdict;
}

void log_record(const Call& call, const Verdict& verdict, const Done& done) {
  const int kept = errno;
  write_record(call, verdict.number, outcome(verdict, done), done);
  errno = kept;
}

std::recursive_mutex& order_of_changes() {
  static std::recursive_mutex order;
  return order;
}

std::atomic<std::size_t>& smallest_counted_allocation() { return smallest_allocation; }

OwnWork::OwnWork() { ++own_work; }
OwnWork::~OwnWork() { --own_work; }

}  // namespace chaos
