#include "serve/http_server.h"

#include <pagoda/base/error.h>
#include <pagoda/base/error_text.h>
#include <pagoda/base/start_thread.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <httplib.h>
#include <mutex>
#include <poll.h>
#include <sys/eventfd.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <netinet/tcp.h>

#include "serve/bounded_socket.h"
#include "serve/routes.h"

namespace pagoda::app {
namespace {

constexpr std::size_t kMostHeadBytes = 1 << 16;  // request line, headers, sizes of chunks
constexpr int kBacklog = 128;                    // connections that the system keeps for us
constexpr std::chrono::milliseconds kIdle{5'000};
constexpr int kOutOfDescriptorsMilliseconds = 50;

/// A BoundedSocket as httplib wants it.
class SocketStream : public httplib::Stream {
 public:
  explicit SocketStream(BoundedSocket& socket) : socket_(socket) {}

  bool is_readable() const override { return socket_.is_readable(); }
  bool is_writable() const override { return true; }
  ssize_t read(char* to, std::size_t size) override { return socket_.read(to, size); }
  ssize_t write(const char* from, std::size_t size) override { return socket_.write(from, size); }
  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string&, int&) const override {}
  socket_t socket() const override { return socket_.descriptor(); }

 private:
  BoundedSocket& socket_;
};

/// A descriptor that becomes readable when something is to stop, and stays so.
class StopMark {
 public:
  StopMark() : descriptor_(::eventfd(0, EFD_CLOEXEC)) {
    if (descriptor_ < 0) throw IoError("no descriptor could be had; raise the limit (ulimit -n)");
  }
  ~StopMark() { ::close(descriptor_); }
  StopMark(const StopMark&) = delete;
  StopMark& operator=(const StopMark&) = delete;

  void set() {
    is_set_ = true;
    ::eventfd_write(descriptor_, 1);
  }
  bool is_set() const { return is_set_; }
  int descriptor() const { return descriptor_; }

 private:
  const int descriptor_;
  std::atomic<bool> is_set_ = false;
};

void share_no_port(int socket) {  // a second server at the same port is an error
  const int yes = 1;
  ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
}

}  // namespace

/// httplib reads requests and writes answers; listening, threads and bounds are ours, because its own
/// wait without end for who sends a byte now and then.
class HttpServer::Connections : public httplib::Server {
 public:
  Connections(TranslationService& service, const HttpServerOptions& options)
      : bounds_{.request_bytes = options.max_request_bytes + kMostHeadBytes,
                .timeout = options.timeout} {
    add_routes(*this, service, options.max_request_bytes);
    set_keep_alive_timeout(std::chrono::duration_cast<std::chrono::seconds>(kIdle).count());
    set_keep_alive_max_count(kMostCount);
    listen_at(options.host, options.port);
    try {
      for (int i = 0; i < options.connections; ++i)
        threads_.push_back(start_thread("connections", [this] { serve_connections(); }));
    } catch (...) {
      stop_all();
      throw;
    }
  }

  ~Connections() override { stop_all(); }

  const std::string& address() const { return address_; }

  void stop_all() {
    stop_.set();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
    if (const int socket = svr_sock_.exchange(INVALID_SOCKET); socket != INVALID_SOCKET)
      ::close(socket);
  }

 private:
  static constexpr std::size_t kMostCount =
      1'000'000;  // requests of a connection, as clients are told

  void listen_at(const std::string& host, int port) {
    set_socket_options(share_no_port);
    errno = 0;
    const int found = port == 0 ? bind_to_any_port(host) : bind_to_port(host, port) ? port : -1;
    if (found < 0) {
      throw IoError("cannot listen at " + host + ", port " + std::to_string(port) +
                    (errno == 0 ? "" : std::string(" (") + std::strerror(errno) + ")") +
                    "; choose another --host or --port (0: any that is free)");
    }
    ::listen(svr_sock_, kBacklog);
    ::fcntl(svr_sock_, F_SETFL, ::fcntl(svr_sock_, F_GETFL) | O_NONBLOCK);
    ::fcntl(svr_sock_, F_SETFD, FD_CLOEXEC);
    const bool is_v6 = host.find(':') != std::string::npos;
    address_ = "http://" + (is_v6 ? "[" + host + "]" : host) + ":" + std::to_string(found);
  }

  void serve_connections() {
    while (true) {
      ++idle_;
      const int descriptor = next_connection();
      --idle_;
      if (descriptor < 0) return;
      try {
        serve(descriptor);
      } catch (...) {
        const std::string what = error_text(std::current_exception());
        std::fprintf(stderr, "pagoda: a connection failed: %s\n", what.c_str());
      }
    }
  }

  /// Waits for one, a thread after the other; -1 when the server stops and nobody waits.
  int next_connection() {
    const std::lock_guard lock(accepting_);
    while (true) {
      pollfd both[] = {{.fd = svr_sock_, .events = POLLIN, .revents = 0},
                       {.fd = stop_.descriptor(), .events = POLLIN, .revents = 0}};
      ::poll(both, 2, -1);
      const bool last = stop_.is_set() && ++taken_last_ > kBacklog;
      const int descriptor = last ? -1 : ::accept4(svr_sock_, nullptr, nullptr, SOCK_CLOEXEC);
      if (descriptor >= 0 || stop_.is_set()) return descriptor;
      const bool is_usual = errno == EAGAIN || errno == EINTR || errno == ECONNABORTED;
      if (!is_usual) ::poll(&both[1], 1, kOutOfDescriptorsMilliseconds);
    }
  }

  void serve(int descriptor) {
    const int yes = 1;  // headers and body are sent apart
    ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    BoundedSocket socket(descriptor, bounds_);
    SocketStream stream(socket);
    bool open = true;
    while (open && socket.wait_for_request(stop_.descriptor(), kIdle)) {
      const bool last = stop_.is_set() || idle_ == 0;  // others wait for this thread
      bool closed = false;
      bool in_step = false;  // an answer before the request was read leaves its body
      const auto prepare = [&](httplib::Request& request) { in_step = make_plain(request); };
      open = process_request(stream, last, closed, prepare) && in_step && !closed && !last;
    }
  }

  const SocketBounds bounds_;
  StopMark stop_;
  std::atomic<int> idle_ = 0;  // threads without a connection
  std::string address_;
  std::mutex accepting_;
  int taken_last_ = 0;  // connections since the server stops; guarded by accepting_
  std::vector<std::thread> threads_;
};

HttpServer::HttpServer(TranslationService& service, const HttpServerOptions& options)
    : connections_(std::make_unique<Connections>(service, options)) {}

HttpServer::~HttpServer() = default;

const std::string& HttpServer::address() const { return connections_->address(); }

void HttpServer::stop() { connections_->stop_all(); }

}  // namespace pagoda::app
