#include <pagoda/base/stop_signal.h>

#include <csignal>
#include <unistd.h>

namespace pagoda {
namespace {

constexpr int kExitBase = 128;  // the shell's convention for "ended by signal n"

// A signal handler can reach nothing but globals.
volatile std::sig_atomic_t received = 0;
struct sigaction previous_interrupt;
struct sigaction previous_terminate;

extern "C" void note_signal(int number) {
  if (received != 0) _exit(kExitBase + number);
  received = number;
}

}  // namespace

StopSignal::StopSignal() {
  received = 0;
  struct sigaction action {};
  action.sa_handler = note_signal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, &previous_interrupt);
  sigaction(SIGTERM, &action, &previous_terminate);
}

StopSignal::~StopSignal() {
  sigaction(SIGINT, &previous_interrupt, nullptr);
  sigaction(SIGTERM, &previous_terminate, nullptr);
}

int StopSignal::number() const { return received; }

int StopSignal::exit_code() const { return asked() ? kExitBase + number() : 0; }

}  // namespace pagoda
