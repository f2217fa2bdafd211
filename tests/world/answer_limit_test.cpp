#include "world/answer_limit.h"

#include <array>
#include <atomic>
#include <poll.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

namespace pagoda {
namespace answer_limit_test {

using namespace std::chrono_literals;

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

/// A way to a port of this machine that can be cut: what is sent then gets lost, and no connection
/// ends.
class Link {
 public:
  explicit Link(std::uint16_t to) : listening_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in own = loopback(0);
    socklen_t length = sizeof own;
    bind(listening_, reinterpret_cast<sockaddr*>(&own), length);
    listen(listening_, 1);
    getsockname(listening_, reinterpret_cast<sockaddr*>(&own), &length);
    port_ = ntohs(own.sin_port);
    thread_ = std::thread([this, to] { carry(to); });
  }
  ~Link() {
    ends_ = true;
    thread_.join();
  }

  std::uint16_t port() const { return port_; }
  void cut() { is_cut_ = true; }

 private:
  void carry(std::uint16_t to) {
    const int near = accept(listening_, nullptr, nullptr);
    const int far = socket(AF_INET, SOCK_STREAM, 0);
    const sockaddr_in address = loopback(to);
    const bool connected =
        connect(far, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    std::array<pollfd, 2> ends{{{near, POLLIN, 0}, {far, POLLIN, 0}}};
    std::array<char, 4096> bytes{};
    while (connected && !ends_) {
      poll(ends.data(), ends.size(), 10);
      for (std::size_t from = 0; from < ends.size(); ++from) {
        if ((ends[from].revents & POLLIN) == 0) continue;
        const ssize_t count = recv(ends[from].fd, bytes.data(), bytes.size(), 0);
        if (count > 0 && !is_cut_)
          send(ends[1 - from].fd, bytes.data(), static_cast<std::size_t>(count), MSG_NOSIGNAL);
      }
    }
    for (const int descriptor : {near, far, listening_}) close(descriptor);
  }

  const int listening_;
  std::uint16_t port_ = 0;
  std::atomic<bool> is_cut_ = false;
  std::atomic<bool> ends_ = false;
  std::thread thread_;
};

TEST(AnswerLimitTest, ACallWithoutAnswerFailsAndOneThatWaitsForAKeyWaits) {
  c10d::TCPStore server("127.0.0.1", {.port = 0, .isServer = true, .waitWorkers = false});
  Link link(server.getPort());
  c10d::TCPStore store("127.0.0.1", {.port = link.port(), .waitWorkers = false, .timeout = 60s});
  limit_answers(store, 200ms);
  EXPECT_EQ(store.add("calls", 1), 1);
  EXPECT_THROW(store.wait({"never"}, 500ms), std::exception);
  EXPECT_EQ(store.add("calls", 1), 2) << "that was no lost answer";
  link.cut();
  EXPECT_THROW(store.add("calls", 1), std::exception);
}

TEST(AnswerLimitTest, WhoAcceptsAConnectionAndDoesNotAnswerIsNotWaitedForWithoutEnd) {
  const int stranger = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in own = loopback(0);
  socklen_t length = sizeof own;
  bind(stranger, reinterpret_cast<sockaddr*>(&own), length);
  listen(stranger, 1);
  getsockname(stranger, reinterpret_cast<sockaddr*>(&own), &length);
  const c10d::TCPStoreOptions options{
      .port = ntohs(own.sin_port), .waitWorkers = false, .timeout = 100ms};
  EXPECT_THROW(open_tcp_store("127.0.0.1", options, 100ms), std::runtime_error);
  close(stranger);
}

TEST(AnswerLimitTest, AStoreWithoutAConnectionIsLeftAsItIs) {
  c10d::HashStore store;
  limit_answers(store, 1ms);
  EXPECT_EQ(store.add("calls", 1), 1);
}

}  // namespace answer_limit_test
}  // namespace pagoda
