#include <pagoda/base/stop_signal.h>

#include <array>
#include <atomic>
#include <csignal>
#include <mutex>
#include <unistd.h>

#include "base/failing_writes.h"

namespace pagoda {
namespace {

constexpr int kExitBase = 128;  // the shell's convention for "ended by signal n"
constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGXCPU};

// A signal handler can reach nothing but globals, and of those that other threads read only
// atomics without locks.
std::atomic<int> received = 0;
static_assert(std::atomic<int>::is_always_lock_free);
std::array<struct sigaction, kSignals.size()> previous;

std::mutex users_mutex;
int users = 0;  // guarded by users_mutex, as is `previous`

/// Somebody's word. The others may come again by themselves: a closed terminal is told of by the
/// kernel and by the shell, time of computing once a second.
bool is_urgent(int number) { return number == SIGINT || number == SIGTERM; }

extern "C" void note_signal(int number) {
  const int before = received.load();
  if (before == 0 || (!is_urgent(before) && is_urgent(number))) {
    received.store(number);
  } else if (is_urgent(number)) {
    _exit(kExitBase + number);
  }
}

bool is_taken(int number, const struct sigaction& previous) {
  const bool is_often_handled = number == SIGUSR1 || number == SIGXCPU;
  return is_often_handled ? previous.sa_handler == SIG_DFL : previous.sa_handler != SIG_IGN;
}

}  // namespace

StopSignal::StopSignal() {
  const std::lock_guard lock(users_mutex);
  if (users++ > 0) return;
  ignore_broken_pipes();
  ignore_file_size_limit();
  received = 0;
  struct sigaction action {};
  action.sa_handler = note_signal;
  action.sa_flags = SA_RESTART;
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], nullptr, &previous[i]);
    if (is_taken(kSignals[i], previous[i])) sigaction(kSignals[i], &action, nullptr);
  }
}

StopSignal::~StopSignal() {
  const std::lock_guard lock(users_mutex);
  if (--users > 0) return;
  for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &previous[i], nullptr);
}

int StopSignal::number() const { return received; }

int StopSignal::exit_code() const { return asked() ? kExitBase + number() : 0; }

}  // namespace pagoda
