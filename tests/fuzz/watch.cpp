#include "fuzz/watch.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <string_view>
#include <sys/resource.h>
#include <unistd.h>

#include "support/resident_memory.h"

namespace pagoda::fuzz {
namespace {

// What the handler of a signal may use: plain memory, filled beforehand.
std::string findings_directory;
std::string name_now;
std::string file_now;
const std::string* bytes_now = nullptr;
timer_t timer;

void put(int descriptor, std::string_view text) {
  [[maybe_unused]] const auto written = write(descriptor, text.data(), text.size());
}

void keep_now() {
  if (bytes_now == nullptr || findings_directory.empty()) return;
  const int file = open(file_now.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) return;
  put(file, *bytes_now);
  close(file);
}

constexpr int kSignals[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGXCPU};
struct sigaction before[NSIG];

/// Names the input; then the signal does what it did before, such as print the sanitizers' report.
void name_input(int signal) {
  const std::string_view what =
      signal == SIGXCPU ? ": too much computing\n" : ": ended by a signal\n";
  put(STDERR_FILENO, "fuzz: ");
  put(STDERR_FILENO, name_now);
  put(STDERR_FILENO, what);
  keep_now();
  sigaction(signal, &before[signal], nullptr);
  raise(signal);
}

void set_timer(int seconds) {
  itimerspec time{};
  time.it_value.tv_sec = seconds;
  timer_settime(timer, 0, &time, nullptr);
}

long largest_kibibytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

}  // namespace

void watch(const std::filesystem::path& findings) {
  findings_directory = findings.string();
  if (!findings.empty()) std::filesystem::create_directories(findings);
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGXCPU;
  if (timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &timer) != 0) {
    std::perror("fuzz: timer_create");
    std::exit(1);
  }
  for (const int signal : kSignals) {
    struct sigaction action {};
    action.sa_handler = name_input;
    sigaction(signal, &action, &before[signal]);
  }
}

Watched::Watched(const std::string& name, const std::string& bytes)
    : largest_before_(largest_kibibytes()) {
  name_now = name;
  std::string flat = name;
  std::replace(flat.begin(), flat.end(), '/', '-');
  file_now = findings_directory + "/" + flat;
  bytes_now = &bytes;
  set_timer(kMostSeconds);
}

Watched::~Watched() {
  set_timer(0);
  bytes_now = nullptr;
}

bool Watched::is_absurdly_large() const {
  return testing::kMemoryIsMeasurable && largest_kibibytes() - largest_before_ > kMostKibibytes;
}

void keep_finding(const std::string& name, const std::string& bytes) {
  const Watched watched(name, bytes);
  keep_now();
}

}  // namespace pagoda::fuzz
