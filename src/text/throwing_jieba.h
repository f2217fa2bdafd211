#pragma once

#include <pagoda/base/error.h>

#include <sstream>

// cppjieba, which ends the process when something is wrong with a dictionary or a text: here that is a
// DataError. These names stand in for those of limonp/Logging.hpp, which it includes.
#define LIMONP_LOGGING_HPP
#define XLOG(level) ::pagoda::JiebaComplaint(#level).stream()
#define XCHECK(condition) \
  if (!(condition)) XLOG(FATAL) << "it does not hold that " #condition ". "

namespace pagoda {

/// A line of cppjieba's log; thrown at its end if it tells of an error.
class JiebaComplaint {
 public:
  explicit JiebaComplaint(std::string_view level)
      : is_error_(level == "ERROR" || level == "FATAL") {}
  JiebaComplaint(const JiebaComplaint&) = delete;
  JiebaComplaint& operator=(const JiebaComplaint&) = delete;
  ~JiebaComplaint() noexcept(false) {
    if (is_error_) throw DataError("jieba cannot use its dictionary or the text: " + text_.str());
  }

  std::ostream& stream() { return text_; }

 private:
  const bool is_error_;
  std::ostringstream text_;
};

}  // namespace pagoda

#include <cppjieba/MixSegment.hpp>
