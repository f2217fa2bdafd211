#pragma once

#include <pagoda/base/error.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace pagoda {

/// Reads a pickle from its first byte to its last.
/// Fails: DataError when it ends too early.
class PickleBytes {
 public:
  explicit PickleBytes(std::string_view bytes) : bytes_(bytes) {}

  std::size_t position() const { return next_; }
  bool at_end() const { return next_ == bytes_.size(); }

  std::string_view take(std::uint64_t count) {
    if (count > bytes_.size() - next_) throw DataError("it ends in the middle of an opcode");
    next_ += count;
    return bytes_.substr(next_ - count, count);
  }

  std::uint64_t little_endian(std::size_t width) {
    const std::string_view bytes = take(width);
    std::uint64_t value = 0;
    for (std::size_t i = width; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
    return value;
  }

  /// Its length, then the number.
  std::int64_t long_integer() {
    const std::size_t width = little_endian(1);
    if (width > 8) throw DataError("it holds a whole number of more than 64 bits");
    if (width == 0) return 0;
    const int unused_bits = 64 - 8 * static_cast<int>(width);
    return static_cast<std::int64_t>(little_endian(width) << unused_bits) >> unused_bits;
  }

  double big_endian_double() {
    std::uint64_t bits = 0;
    for (const char byte : take(8)) bits = bits << 8 | static_cast<unsigned char>(byte);
    return std::bit_cast<double>(bits);
  }

  /// Up to the end of the line, which is taken, too.
  std::string line() {
    const std::size_t end = bytes_.find('\n', next_);
    if (end == std::string_view::npos) throw DataError("a name does not end");
    const std::string text(take(end - next_));
    take(1);
    return text;
  }

 private:
  std::string_view bytes_;
  std::size_t next_ = 0;
};

}  // namespace pagoda
