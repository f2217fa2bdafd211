#include <pagoda/base/stop_signal.h>

#include <array>
#include <atomic>
#include <csignal>
#include <mutex>
#include <unistd.h>

#include "base/broken_pipe.h"

namespace pagoda {
namespace {

constexpr int kExitBase = 128;  // the shell's convention for "ended by signal n"
constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};

// A signal handler can reach nothing but globals, and of those that other threads read only
// atomics without locks.
std::atomic<int> received = 0;
static_assert(std::atomic<int>::is_always_lock_free);
std::array<struct sigaction, kSignals.size()> previous;

std::mutex users_mutex;
int users = 0;  // guarded by users_mutex, as is `previous`

extern "C" void note_signal(int number) {
  // A closed terminal often tells twice, by the kernel and by the shell: no reason to hurry.
  const int before = received.load();
  if (before == 0 || before == SIGHUP) {
    received.store(number);
  } else if (number != SIGHUP) {
    _exit(kExitBase + number);
  }
}

}  // namespace

StopSignal::StopSignal() {
  const std::lock_guard lock(users_mutex);
  if (users++ > 0) return;
  ignore_broken_pipes();
  received = 0;
  struct sigaction action {};
  action.sa_handler = note_signal;
  action.sa_flags = SA_RESTART;
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], nullptr, &previous[i]);
    if (previous[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &action, nullptr);
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
