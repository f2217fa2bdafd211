#include <pagoda/base/byte_size.h>
#include <pagoda/base/error_text.h>

#include <charconv>
#include <cstdint>
#include <new>
#include <string_view>
#include <system_error>

#include <c10/util/Exception.h>

namespace pagoda {
namespace {

constexpr const char* kLessMemory = "; take a smaller model or batch, or free memory";
constexpr const char* kNoThread =
    "the system refuses to start another thread; raise the limit on processes (ulimit -u, or the "
    "container's), or use fewer devices and loader threads";

std::string full_text(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  } catch (const std::bad_alloc&) {
    return std::string("out of memory: an allocation in the host's memory failed") + kLessMemory;
  } catch (const std::system_error& error) {
    // What std::thread throws, in LibTorch too; the error alone says nothing of threads.
    if (error.code() == std::errc::resource_unavailable_try_again) return kNoThread;
    return error.what();
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "an exception that is not a std::exception";
  }
}

/// The size in LibTorch's complaint that the host's memory is used up; 0 in any other text.
std::int64_t refused_bytes(std::string_view text) {
  constexpr std::string_view kBefore = "you tried to allocate ";
  std::int64_t bytes = 0;
  if (const auto at = text.find(kBefore); at != std::string_view::npos)
    std::from_chars(text.data() + at + kBefore.size(), text.data() + text.size(), bytes);
  return bytes;
}

}  // namespace

std::string error_text(const std::exception_ptr& error) {
  const std::string text = full_text(error);
  if (const std::int64_t bytes = refused_bytes(text); bytes > 0) {
    return "out of memory: cannot allocate " + bytes_text(bytes) + " in the host's memory" +
           kLessMemory;
  }
  return text.substr(0, text.find('\n'));
}

}  // namespace pagoda
