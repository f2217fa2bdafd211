#include <pagoda/base/byte_size.h>
#include <pagoda/base/error.h>
#include <pagoda/base/stop_signal.h>
#include <pagoda/cli/flag_adder.h>
#include <pagoda/cli/run_flags.h>

#include <chrono>
#include <cstdio>
#include <poll.h>

#include "commands/commands.h"
#include "run/warned_devices.h"
#include "serve/http_server.h"
#include "serve/kernel_caches.h"
#include "serve/run_translator.h"
#include "serve/service.h"

namespace pagoda::app {
namespace {

constexpr std::size_t kLinesOfTower = 64;  // that are decoded together at most
constexpr int kSignalMilliseconds = 100;   // a signal may come in another thread

struct ServeFlags {
  StoredRunFlags run;
  DeviceChoice devices;
  DecodingSpeed speed;
  HttpServerOptions http;
  RequestLimits limits;
  std::uint64_t max_wait = static_cast<std::uint64_t>(BatchQueueOptions{}.max_wait.count());
  std::size_t max_queue = BatchQueueOptions{}.max_lines;
  std::int64_t max_request = static_cast<std::int64_t>(HttpServerOptions{}.max_request_bytes);
  double timeout = std::chrono::duration<double>(HttpServerOptions{}.timeout).count();
};

void wait_for(const StopSignal& signal) {
  while (!signal.asked()) ::poll(nullptr, 0, kSignalMilliseconds);
}

int serve(const ServeFlags& flags) {
  if (flags.limits.max_sentences > flags.max_queue) {
    throw UsageError("--max-sentences " + std::to_string(flags.limits.max_sentences) +
                     " of a request do not fit into --max-queue " +
                     std::to_string(flags.max_queue));
  }
  bound_kernel_caches();
  const StopSignal signal;
  const WarnedDevices devices(flags.devices);
  RunTranslator translator(flags.run, devices.list(), flags.speed);
  TranslationService service(
      [&](const auto& lines, const auto& decoding) {
        return translator.translate(lines, decoding);
      },
      {.limits = flags.limits,
       .queue = {.max_wait = std::chrono::milliseconds(flags.max_wait),
                 .max_lines = flags.max_queue,
                 .max_batch = kLinesOfTower * static_cast<std::size_t>(translator.towers())},
       .model = flags.run.run});
  HttpServerOptions http = flags.http;
  http.max_request_bytes = static_cast<std::size_t>(flags.max_request);
  http.timeout =
      std::chrono::ceil<std::chrono::milliseconds>(std::chrono::duration<double>(flags.timeout));
  HttpServer server(service, http);
  std::printf("serving %s at %s\n", flags.run.run.c_str(), server.address().c_str());
  std::fflush(stdout);
  wait_for(signal);
  server.stop();
  service.stop();
  std::printf("stopped after %llu requests\n", static_cast<unsigned long long>(service.requests()));
  return 0;  // being stopped is how a server ends
}

void add_bounds(FlagAdder& add, ServeFlags& flags) {
  add.group("Bounds");
  add.whole("--max-wait", flags.max_wait, 0, 60'000,
            "milliseconds that a request waits for others, to be decoded together");
  add.count("--max-queue", flags.max_queue,
            "sentences that may wait; a request beyond is refused (503)");
  add.text("--max-request", flags.max_request, parse_bytes, bytes_text,
           "size of a request; more is refused (413)");
  add.count("--max-sentences", flags.limits.max_sentences, "sentences of a request");
  add.count("--max-sentence", flags.limits.max_sentence_bytes, "bytes of a sentence");
  add.count("--max-beam-size", flags.limits.max_beam_size, "beam_size that a request may ask for");
  add.option("--timeout", flags.timeout,
             "seconds for a whole request to come, and for an answer to go")
      ->check(positive_seconds());
  add.whole("--connections", flags.http.connections, 1, 1000,
            "connections that are served at a time; others wait");
}

}  // namespace

void add_serve_command(CLI::App& program, Action& action) {
  auto flags = std::make_shared<ServeFlags>();
  CLI::App* command = program.add_subcommand(
      "serve", "Translate for others with a run of seq2seq: HTTP with JSON, and a page to try it");
  add_stored_run_flags(*command, flags->run);
  FlagAdder add(*command);
  add.option("--host", flags->http.host,
             "address to listen at; 0.0.0.0: every one of this machine");
  add.whole("--port", flags->http.port, 0, 65'535, "port to listen at; 0: any that is free");
  add_speed_flags(add, flags->speed);
  add_bounds(add, *flags);
  add_device_flags(*command, flags->devices);
  command->callback([flags, &action] { action = [flags] { return serve(*flags); }; });
}

}  // namespace pagoda::app
