#include <pagoda/base/byte_size.h>
#include <pagoda/memory/memory_account.h>

#include <limits>
#include <utility>

namespace pagoda {
namespace {

constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

}  // namespace

MemoryLimitError::MemoryLimitError(const std::string& device, std::int64_t limit,
                                   std::int64_t in_use, std::int64_t asked_for)
    : DeviceError("out of memory on " + device + ": limit " + bytes_text(limit) + ", in use " +
                  bytes_text(in_use) + ", asked for " + bytes_text(asked_for) +
                  "; lower the batch size or raise the memory limit"),
      device_(device),
      limit_(limit),
      in_use_(in_use),
      asked_for_(asked_for) {}

MemoryAccount::MemoryAccount(std::string device, std::optional<std::int64_t> limit)
    : device_(std::move(device)), limit_(limit.value_or(kUnlimited)) {}

void MemoryAccount::charge(std::int64_t bytes) {
  const std::int64_t before = in_use_.fetch_add(bytes);
  const std::int64_t limit = limit_;
  if (bytes > 0 && before > limit - bytes) {
    in_use_ -= bytes;
    throw MemoryLimitError(device_, limit, before, bytes);
  }
  std::int64_t peak = peak_;
  while (before + bytes > peak && !peak_.compare_exchange_weak(peak, before + bytes)) {
  }
}

std::optional<std::int64_t> MemoryAccount::limit() const {
  const std::int64_t limit = limit_;
  return limit == kUnlimited ? std::nullopt : std::optional<std::int64_t>(limit);
}

void MemoryAccount::set_limit(std::optional<std::int64_t> limit) {
  limit_ = limit.value_or(kUnlimited);
}

}  // namespace pagoda
