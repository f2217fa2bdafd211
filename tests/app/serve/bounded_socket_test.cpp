#include "serve/bounded_socket.h"

#include <array>
#include <memory>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

namespace pagoda::app {
namespace bounded_socket_test {

constexpr std::chrono::milliseconds kLong = std::chrono::hours(1);
constexpr std::chrono::milliseconds kShort{20};

/// Two ends of a connection: ours, bounded, and a client's; and what tells ours to stop.
struct Ends {
  explicit Ends(const SocketBounds& bounds) {
    std::array<int, 2> both{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, both.data()), 0);
    EXPECT_EQ(::pipe(stop.data()), 0);
    ours = std::make_unique<BoundedSocket>(both[0], bounds);
    client = both[1];
  }
  ~Ends() {
    close_client();
    for (const int descriptor : stop) ::close(descriptor);
  }

  void send(const std::string& text) {
    EXPECT_EQ(::send(client, text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
  }
  void close_client() {
    if (client >= 0) ::close(std::exchange(client, -1));
  }
  bool wait(std::chrono::milliseconds idle = kLong) {
    return ours->wait_for_request(stop[0], idle);
  }
  /// Everything up to the end or the bounds, a few bytes at a time.
  std::string read() {
    std::string all;
    std::array<char, 3> piece{};
    ssize_t count = 0;
    while ((count = ours->read(piece.data(), piece.size())) > 0)
      all.append(piece.data(), static_cast<std::size_t>(count));
    EXPECT_EQ(count, -1);
    return all;
  }

  std::array<int, 2> stop{};
  std::unique_ptr<BoundedSocket> ours;
  int client = -1;
};

TEST(BoundedSocketTest, ReadsWhatComesUntilTheOtherSideCloses) {
  Ends ends({});
  ends.send("hello");
  ASSERT_TRUE(ends.wait());
  ends.send(" there");
  ends.close_client();
  EXPECT_EQ(ends.read(), "hello there");
  EXPECT_FALSE(ends.wait());
}

TEST(BoundedSocketTest, ARequestHasSoManyBytesAndTheNextAsMany) {
  Ends ends({.request_bytes = 10, .timeout = kLong});
  ends.send("0123456");
  std::array<char, 7> seven{};
  ASSERT_TRUE(ends.wait());
  ASSERT_EQ(ends.ours->read(seven.data(), 7), 7);
  ends.send("0123456789ab");
  ASSERT_TRUE(ends.wait());
  EXPECT_EQ(ends.read(), "0123456789");
  EXPECT_FALSE(ends.wait()) << "after a request that was too large nothing is a request";
}

TEST(BoundedSocketTest, ARequestThatDoesNotGoOnEndsAfterItsTime) {
  Ends ends({.timeout = kShort});
  ends.send("half");
  ASSERT_TRUE(ends.wait());
  EXPECT_EQ(ends.read(), "half");
}

TEST(BoundedSocketTest, WaitsNoLongerThanItShouldForARequest) {
  Ends ends({});
  EXPECT_FALSE(ends.wait(kShort));
  const char one = 1;
  ASSERT_EQ(::write(ends.stop[1], &one, 1), 1);
  EXPECT_FALSE(ends.wait()) << "the server stops";
  ends.send("x");
  EXPECT_TRUE(ends.wait()) << "but what has come is a request";
}

TEST(BoundedSocketTest, SendsMoreThanTheSystemTakesAtOnce) {
  Ends ends({});
  const std::string sent(3'000'001, 's');
  std::string received;
  std::thread reader([&] {
    std::array<char, 1000> piece{};
    ssize_t count = 0;
    while (received.size() < sent.size() &&
           (count = ::recv(ends.client, piece.data(), piece.size(), 0)) > 0)
      received.append(piece.data(), static_cast<std::size_t>(count));
  });
  EXPECT_EQ(ends.ours->write(sent.data(), sent.size()), static_cast<ssize_t>(sent.size()));
  reader.join();
  EXPECT_TRUE(received == sent);
}

TEST(BoundedSocketTest, GivesUpSendingToWhoTakesNothingOrHasGone) {
  const std::string large(3'000'000, 's');
  Ends slow({.timeout = kShort});
  EXPECT_EQ(slow.ours->write(large.data(), large.size()), -1);
  Ends gone({});
  gone.close_client();
  EXPECT_EQ(gone.ours->write(large.data(), large.size()), -1);
}

TEST(BoundedSocketTest, WhoeverSendsWithoutEndIsLeftAfterAMoment) {
  Ends ends({.request_bytes = 10});
  ends.send("0123456789ab");
  ASSERT_TRUE(ends.wait());
  EXPECT_EQ(ends.read(), "0123456789");
  std::thread sender([&] {
    const std::string piece(100'000, 's');
    while (::send(ends.client, piece.data(), piece.size(), MSG_NOSIGNAL) > 0) {
    }
  });
  ends.ours.reset();  // would not end
  sender.join();
}

}  // namespace bounded_socket_test
}  // namespace pagoda::app
