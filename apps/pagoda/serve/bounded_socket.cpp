#include "serve/bounded_socket.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace pagoda::app {
namespace {

constexpr std::int64_t kLongestPoll = 1'000'000'000;  // milliseconds; poll takes an int
constexpr std::size_t kPieceBytes = 1 << 14;
constexpr std::chrono::milliseconds kFarewell{1000};

using SocketClock = std::chrono::steady_clock;

/// Waits for one of the events; 0 when the time is over.
short wait_for(int descriptor, short events, SocketClock::time_point until) {
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - SocketClock::now());
    pollfd one{.fd = descriptor, .events = events, .revents = 0};
    const auto now = std::clamp<std::int64_t>(left.count(), 0, kLongestPoll);
    const int found = ::poll(&one, 1, static_cast<int>(now));
    if ((found < 0 && errno == EINTR) || (found == 0 && now < left.count())) continue;
    return found > 0 ? one.revents : short{0};
  }
}

/// Lets the other side finish sending, and take its answer.
void say_farewell(int descriptor) {
  ::shutdown(descriptor, SHUT_WR);
  const auto until = SocketClock::now() + kFarewell;
  char unread[kPieceBytes];
  while (SocketClock::now() < until && wait_for(descriptor, POLLIN, until) != 0) {
    if (::recv(descriptor, unread, sizeof unread, MSG_DONTWAIT) <= 0) return;
  }
}

}  // namespace

BoundedSocket::~BoundedSocket() {
  int unread = 0;
  ::ioctl(descriptor_, FIONREAD, &unread);
  if (unread > 0 || bytes_ >= bounds_.request_bytes) say_farewell(descriptor_);
  ::close(descriptor_);
}

bool BoundedSocket::is_ready(int milliseconds) const {
  return wait_for(descriptor_, POLLIN, Clock::now() + std::chrono::milliseconds(milliseconds)) != 0;
}

bool BoundedSocket::wait_for_request(int stop, std::chrono::milliseconds idle) {
  if (ended_) return false;
  if (begin_ == buffer_.size()) {
    pollfd both[] = {{.fd = descriptor_, .events = POLLIN, .revents = 0},
                     {.fd = stop, .events = POLLIN, .revents = 0}};
    int found = -1;
    do found = ::poll(both, 2, static_cast<int>(idle.count()));
    while (found < 0 && errno == EINTR);
    if (both[0].revents == 0) return false;
  }
  bytes_ = buffer_.size() - begin_;
  deadline_ = Clock::now() + bounds_.timeout;
  return begin_ < buffer_.size() || fill();
}

/// Reads on, whatever has come; false at the end, and past the bounds.
bool BoundedSocket::fill() {
  buffer_.resize(
      std::min(kPieceBytes, bounds_.request_bytes - std::min(bytes_, bounds_.request_bytes)));
  begin_ = 0;
  ssize_t count = -1;
  if (!buffer_.empty()) {
    do {
      if (wait_for(descriptor_, POLLIN, deadline_) == 0) break;
      count = ::recv(descriptor_, buffer_.data(), buffer_.size(), MSG_DONTWAIT);
    } while (count < 0 && (errno == EAGAIN || errno == EINTR));
  }
  buffer_.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  bytes_ += buffer_.size();
  ended_ = buffer_.empty();
  return !ended_;
}

ssize_t BoundedSocket::read(char* to, std::size_t size) {
  if (begin_ == buffer_.size() && (ended_ || !fill())) return -1;
  const std::size_t count = std::min(size, buffer_.size() - begin_);
  std::memcpy(to, buffer_.data() + begin_, count);
  begin_ += count;
  return static_cast<ssize_t>(count);
}

ssize_t BoundedSocket::write(const char* from, std::size_t size) {
  const auto until = Clock::now() + bounds_.timeout;
  std::size_t sent = 0;
  while (sent < size) {
    if (wait_for(descriptor_, POLLOUT, until) == 0) return -1;
    const ssize_t count =
        ::send(descriptor_, from + sent, size - sent, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (count < 0) return -1;
    sent += static_cast<std::size_t>(count);
  }
  return static_cast<ssize_t>(size);
}

}  // namespace pagoda::app
