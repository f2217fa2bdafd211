#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <sys/types.h>

namespace pagoda::app {

struct SocketBounds {
  std::size_t request_bytes = 1 << 20;  ///< of a request with its headers
  std::chrono::milliseconds timeout{
      30'000};  ///< for a whole request to come, and for an answer to go
};

/// A connection to somebody who may be slow, endless or gone: a request has a time and a number of
/// bytes as a whole, however small the pieces are in which it comes.
///
/// Threads: one. Owns: the descriptor. Fails: never by exception; `read` and `write` give -1.
class BoundedSocket {
 public:
  BoundedSocket(int descriptor, const SocketBounds& bounds)
      : descriptor_(descriptor), bounds_(bounds) {}

  /// Closes the connection. What the other side still sends is read for a moment: otherwise the
  /// system would break the connection off, and the answer with it.
  ~BoundedSocket();
  BoundedSocket(const BoundedSocket&) = delete;
  BoundedSocket& operator=(const BoundedSocket&) = delete;

  /// Waits until a request comes; its time and bytes count from here. False: none has come for
  /// `idle`, the other side has gone, the one before was past its bounds, or `stop` became readable
  /// and there is nothing to read.
  bool wait_for_request(int stop, std::chrono::milliseconds idle);

  /// As ::read; -1 when the request is past its bounds.
  ssize_t read(char* to, std::size_t size);
  /// Sends all of it: `size`, or -1.
  ssize_t write(const char* from, std::size_t size);

  bool is_readable() const { return begin_ < buffer_.size() || is_ready(0); }
  int descriptor() const { return descriptor_; }

 private:
  using Clock = std::chrono::steady_clock;

  bool is_ready(int milliseconds) const;
  bool fill();

  const int descriptor_;
  const SocketBounds bounds_;
  std::string buffer_;     // what has come
  std::size_t begin_ = 0;  // of what was not read of it
  std::size_t bytes_ = 0;  // of this request
  Clock::time_point deadline_;
  bool ended_ = false;  // or past its bounds: nothing more is read
};

}  // namespace pagoda::app
