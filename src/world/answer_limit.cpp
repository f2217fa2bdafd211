#include "world/answer_limit.h"

#include <pagoda/base/start_thread.h>

#include <charconv>
#include <filesystem>
#include <future>
#include <memory>
#include <stdexcept>
#include <sys/socket.h>
#include <sys/time.h>
#include <system_error>

#include <netinet/in.h>

namespace pagoda {
namespace {

/// The port at the other end of a TCP connection; 0 where the descriptor is something else.
int peer_port(int descriptor) {
  sockaddr_storage peer{};
  socklen_t length = sizeof peer;
  if (getpeername(descriptor, reinterpret_cast<sockaddr*>(&peer), &length) != 0) return 0;
  if (peer.ss_family == AF_INET) return ntohs(reinterpret_cast<const sockaddr_in&>(peer).sin_port);
  if (peer.ss_family == AF_INET6)
    return ntohs(reinterpret_cast<const sockaddr_in6&>(peer).sin6_port);
  return 0;
}

using StorePromise = std::promise<c10::intrusive_ptr<c10d::Store>>;

}  // namespace

c10::intrusive_ptr<c10d::Store> open_tcp_store(const std::string& host,
                                               const c10d::TCPStoreOptions& options,
                                               std::chrono::milliseconds limit) {
  const auto promise = std::make_shared<StorePromise>();
  auto opened = promise->get_future();
  // Left to itself when nobody answers.
  start_thread("store", [promise, host, options] {
    try {
      promise->set_value(c10::make_intrusive<c10d::TCPStore>(host, options));
    } catch (...) {
      promise->set_exception(std::current_exception());
    }
  }).detach();
  if (opened.wait_for(options.timeout + limit) == std::future_status::timeout)
    throw std::runtime_error("somebody accepts connections there, but does not answer");
  return opened.get();
}

void limit_answers(c10d::Store& store, std::chrono::milliseconds limit) {
  const auto* connected = dynamic_cast<const c10d::TCPStore*>(&store);
  if (connected == nullptr) return;
  timeval time{.tv_sec = limit.count() / 1000, .tv_usec = limit.count() % 1000 * 1000};
  // c10d does not tell its socket, so it is found by where it leads to.
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", ignored)) {
    const std::string name = entry.path().filename();
    int descriptor = -1;
    std::from_chars(name.data(), name.data() + name.size(), descriptor);
    if (peer_port(descriptor) != connected->getPort()) continue;
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
  }
}

}  // namespace pagoda
