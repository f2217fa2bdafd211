// The program's start: at once, or many times from one process.
//
// Loading LibTorch takes longer than a small run. With CHAOS_SERVER=IN,OUT (two descriptors) the
// program is therefore loaded once; for each request a child is forked just before main, while there
// are no threads yet. A request is its size in bytes (8 bytes, this machine's order) and strings, each
// ended by a NUL: working directory, files for stdin, stdout and stderr, the number of variables, the
// variables as NAME=value, and the program's arguments from its name on. The answer is two lines: the
// child's process id, and its status as waitpid gives it.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "counted_call.h"

namespace {

using Main = int (*)(int, char**, char**);
Main program_main = nullptr;

bool read_exactly(int descriptor, void* data, std::size_t bytes) {
  for (char* to = static_cast<char*>(data); bytes > 0;) {
    const ssize_t got = read(descriptor, to, bytes);
    if (got <= 0) return false;
    to += got;
    bytes -= static_cast<std::size_t>(got);
  }
  return true;
}

std::vector<std::string> read_request(int in) {
  std::uint64_t bytes = 0;
  if (!read_exactly(in, &bytes, sizeof bytes)) return {};
  std::string text(bytes, '\0');
  if (!read_exactly(in, text.data(), bytes)) return {};
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin < text.size();) {
    parts.emplace_back(text.c_str() + begin);
    begin += parts.back().size() + 1;
  }
  return parts;
}

void redirect(const std::string& file, int flags, int descriptor) {
  const int opened = open(file.c_str(), flags | O_CLOEXEC, 0666);
  if (opened < 0 || dup2(opened, descriptor) < 0) _exit(125);
  close(opened);
}

int run_request(const std::vector<std::string>& request) {
  constexpr int kWritten = O_WRONLY | O_CREAT | O_TRUNC;
  if (chdir(request[0].c_str()) != 0) _exit(125);
  redirect(request[1], O_RDONLY, STDIN_FILENO);
  redirect(request[2], kWritten, STDOUT_FILENO);
  redirect(request[3], kWritten, STDERR_FILENO);
  unsetenv("CHAOS_SERVER");
  const std::size_t arguments = 5 + std::stoul(request[4]);
  for (std::size_t i = 5; i < arguments; ++i) {
    const auto at = request[i].find('=');
    setenv(request[i].substr(0, at).c_str(), request[i].c_str() + at + 1, /*replace=*/1);
  }
  static std::vector<char*> argv;  // as long as the program runs
  for (std::size_t i = arguments; i < request.size(); ++i)
    argv.push_back(const_cast<char*>(request[i].c_str()));
  const int count = static_cast<int>(argv.size());
  argv.push_back(nullptr);
  chaos::begin_plan();
  const int code = program_main(count, argv.data(), environ);
  if (code != 0) return code;
  // LibTorch's destructors would copy what the processes share, and take longer than a small run.
  std::fflush(nullptr);
  _exit(0);
}

int serve(int in, int out) {
  while (true) {
    static std::vector<std::string> request;  // the child's arguments lie in it
    request = read_request(in);
    if (request.empty()) return 0;
    const pid_t child = fork();
    if (child == 0) {
      close(in);
      close(out);
      return run_request(request);
    }
    dprintf(out, "%d\n", child);
    int status = -1;
    if (child > 0) waitpid(child, &status, 0);
    dprintf(out, "%d\n", status);
  }
}

int run_or_serve(int count, char** arguments, char** environment) {
  int in = -1;
  int out = -1;
  const char* const server = getenv("CHAOS_SERVER");
  if (server != nullptr && std::sscanf(server, "%d,%d", &in, &out) == 2) return serve(in, out);
  chaos::begin_plan();
  return program_main(count, arguments, environment);
}

}  // namespace

/// What a program's first instructions call with its main.
extern "C" int __libc_start_main(Main main, int count, char** arguments, void (*init)(),
                                 void (*fini)(), void (*loader_fini)(), void* stack_end) {
  using Start = decltype(&__libc_start_main);
  program_main = main;
  return chaos::next_function<Start>("__libc_start_main")(run_or_serve, count, arguments, init,
                                                          fini, loader_fini, stack_end);
}
