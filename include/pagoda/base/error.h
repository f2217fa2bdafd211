#pragma once

#include <stdexcept>
#include <string>

namespace pagoda {

/// What Pagoda throws. The text says what went wrong, where, with which value, and what to do next,
/// in one line. Catch `Error` for all of them, or one kind to react to it.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The caller asked for something that cannot be: a bad option, shape or device name.
class UsageError : public Error {
 public:
  using Error::Error;
};

/// Something that was read or computed is wrong: a damaged file, a loss that is not finite.
class DataError : public Error {
 public:
  using Error::Error;
};

/// A device failed, is missing or ran out of memory.
class DeviceError : public Error {
 public:
  using Error::Error;
};

/// A file or directory could not be read or written.
class IoError : public Error {
 public:
  using Error::Error;
};

}  // namespace pagoda
