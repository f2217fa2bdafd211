#include "device/device_cores.h"

#include <pagoda/base/error.h>
#include <pagoda/device/cpu_cores.h>

#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <sched.h>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "device/cpu_set.h"

namespace pagoda {
namespace device_cores_test {

std::vector<int> allowed_here() {
  return read_cpu_set(
      [](std::size_t bytes, cpu_set_t* set) { return sched_getaffinity(0, bytes, set); });
}

/// Where each thread of a parallel region on this device may run; the region is the second one.
std::set<std::vector<int>> allowed_on(const Device& device) {
  std::set<std::vector<int>> allowed;
  const auto threads = static_cast<std::int64_t>(device.cores.size());
  std::int64_t found = 0;
  std::thread([&] {
    take_cores(device);
    found = at::get_num_threads();
    at::parallel_for(0, threads, 1, [](std::int64_t, std::int64_t) {});
    std::mutex mutex;
    at::parallel_for(0, threads, 1, [&](std::int64_t, std::int64_t) {
      const std::lock_guard lock(mutex);
      allowed.insert(allowed_here());
    });
    allowed.insert(allowed_here());
  }).join();
  EXPECT_EQ(found, threads);
  return allowed;
}

TEST(DeviceCoresTest, APinnedDeviceComputesOnItsCoresOnly) {
  const std::vector<int> cores = usable_cores().cores;
  EXPECT_EQ(allowed_on({.cores = cores}), std::set{cores});
  for (const int core : cores)
    EXPECT_EQ(allowed_on({.cores = {core}}), (std::set{std::vector{core}}));
}

TEST(DeviceCoresTest, ADeviceThatIsNotPinnedComputesAnywhere) {
  const std::vector<int> cores = usable_cores().cores;
  const auto everywhere = std::set{cpus_of_process()};
  EXPECT_EQ(allowed_on({.cores = cores, .pinned = false}), everywhere);
  EXPECT_EQ(allowed_on({.cores = {cores.front()}, .pinned = false}), everywhere);
}

TEST(DeviceCoresTest, ADeviceWithoutCoresIsAnError) {
  EXPECT_THROW(take_cores({.cores = {}}), DeviceError);
  EXPECT_THROW(take_cores({.cores = {}, .pinned = false}), DeviceError);
}

constexpr const char* kInBoundProcess = "PAGODA_TEST_OPENMP_BINDS";

TEST(DeviceCoresTest, OpenMpBindsWhereADeviceIsTestedWithIt) {
  if (std::getenv(kInBoundProcess) == nullptr) return;  // see below
  EXPECT_TRUE(openmp_binds_threads());
}

/// OpenMP reads its variables when it is loaded: the tests above once more in another process.
TEST(DeviceCoresTest, OpenMpWithPlacesOfItsOwnIsOverruled) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe");
  for (const char* variable : {"OMP_PROC_BIND=true", "OMP_PROC_BIND=spread", "OMP_PLACES=cores"}) {
    const std::string command = "env " + std::string(kInBoundProcess) + "=1 " + variable + " '" +
                                program +
                                "' --gtest_brief=1 --gtest_filter='DeviceCoresTest.*Device*'";
    EXPECT_EQ(std::system(command.c_str()), 0) << variable;
  }
}

}  // namespace device_cores_test
}  // namespace pagoda
