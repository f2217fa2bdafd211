#include "device/cpu_set.h"

#include <pagoda/base/error.h>

#include <cerrno>
#include <vector>

#include <gtest/gtest.h>

namespace pagoda {
namespace cpu_set_test {

/// Asks as on a machine with so many possible CPUs, of which the process may use some.
std::vector<int> read_on(std::size_t possible, const std::vector<std::size_t>& allowed) {
  return read_cpu_set([&](std::size_t bytes, cpu_set_t* set) {
    if (bytes * 8 < possible) {
      errno = EINVAL;
      return -1;
    }
    for (const std::size_t cpu : allowed) CPU_SET_S(cpu, bytes, set);
    return 0;
  });
}

TEST(CpuSetTest, HasRoomForAnyNumberOfCpus) {
  EXPECT_EQ(read_on(2, {0, 1}), (std::vector<int>{0, 1}));
  EXPECT_EQ(read_on(1024, {0, 1023}), (std::vector<int>{0, 1023}));
  EXPECT_EQ(read_on(1025, {1024}), (std::vector<int>{1024}));
  EXPECT_EQ(read_on(8192, {7, 1024, 5000, 8191}), (std::vector<int>{7, 1024, 5000, 8191}));
}

TEST(CpuSetTest, TellsWhyItCannotBeRead) {
  EXPECT_THROW(read_cpu_set([](std::size_t, cpu_set_t*) {
                 errno = EPERM;
                 return -1;
               }),
               DeviceError);
}

}  // namespace cpu_set_test
}  // namespace pagoda
