#pragma once

#include <stdexcept>
#include <string>

namespace pagoda {

/// What Pagoda throws. The text says in one line what went wrong, where, with which value, and what
/// to do next. Catch `Error` for every kind, or a subclass to handle one kind.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The caller asked for something impossible: a bad option, shape or device name.
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
