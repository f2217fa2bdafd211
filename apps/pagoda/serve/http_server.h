#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "serve/service.h"

namespace pagoda::app {

struct HttpServerOptions {
  std::string host = "127.0.0.1";
  int port = 8080;                          ///< 0: any that is free
  std::size_t max_request_bytes = 1 << 20;  ///< of a body; more is 413
  std::chrono::milliseconds timeout{
      30'000};           ///< for a whole request to come, and for an answer to go
  int connections = 64;  ///< that are served at a time, a thread for each; others wait
};

/// HTTP for a service: POST /translate, GET /health, GET /metrics, and a page at GET /.
///
/// Threads: those that own it construct and stop it; each connection has one of its own.
/// Owns: the socket and the threads; borrows the service, which must outlive it.
/// Fails: IoError when it cannot listen at the address.
/// Example:
///     HttpServer server(service, {.port = 0});
///     std::puts(server.address().c_str());
class HttpServer {
 public:
  HttpServer(TranslationService& service, const HttpServerOptions& options = {});
  ~HttpServer();  ///< as stop

  /// Such as "http://127.0.0.1:8080".
  const std::string& address() const;

  /// Takes no more connections, answers the requests that have come, and closes all.
  void stop();

 private:
  class Connections;

  std::unique_ptr<Connections> connections_;
};

}  // namespace pagoda::app
