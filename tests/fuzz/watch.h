#pragma once

#include <filesystem>
#include <string>

namespace pagoda::fuzz {

/// Sees to it that no input goes unnamed that ends the process or computes without end: from now on
/// a fatal signal, and `kMostSeconds` of computing for one input, print the input's name and keep
/// its bytes in `findings` (unless that is empty) before the process ends. Computing time, not the
/// clock's: a busy machine changes nothing.
void watch(const std::filesystem::path& findings);

inline constexpr int kMostSeconds = 20;           ///< of computing, for one input
inline constexpr long kMostKibibytes = 512 << 10;  ///< that the process may grow by for one input

/// The input that is being read while it lives. Keep `bytes` until then.
class Watched {
 public:
  Watched(const std::string& name, const std::string& bytes);
  ~Watched();
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

  /// Whether the process has grown by more than kMostKibibytes since the input was begun.
  bool is_absurdly_large() const;

 private:
  long largest_before_;
};

/// Writes an input into the directory of findings.
void keep_finding(const std::string& name, const std::string& bytes);

}  // namespace pagoda::fuzz
