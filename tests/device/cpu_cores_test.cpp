#include <pagoda/base/error.h>
#include <pagoda/device/cpu_cores.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <sched.h>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "support/scratch_directory.h"

namespace pagoda {
namespace cpu_cores_test {

/// The cores that the calling thread may run on.
std::vector<int> allowed_here() {
  cpu_set_t mask;
  sched_getaffinity(0, sizeof mask, &mask);
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &mask)) cores.push_back(core);
  }
  return cores;
}

template <class Result>
Result on_pinned_thread(const std::vector<int>& cores, Result (*function)()) {
  std::optional<Result> result;
  std::thread([&] {
    pin_this_thread(cores);
    result = function();
  }).join();
  return *result;
}

TEST(UsableCoresTest, AreDistinctCoresOfTheAffinityMask) {
  const CpuCores cpu = usable_cores();
  const std::vector<int> allowed = allowed_here();
  EXPECT_FALSE(cpu.cores.empty());
  EXPECT_FALSE(cpu.name.empty());
  EXPECT_EQ(std::set(cpu.cores.begin(), cpu.cores.end()).size(), cpu.cores.size());
  for (const int core : cpu.cores) EXPECT_TRUE(std::ranges::binary_search(allowed, core)) << core;
}

TEST(UsableCoresTest, FollowTheAffinityOfTheProcess) {
  const std::vector<int> all = allowed_here();
  const int last = usable_cores().cores.back();
  pin_this_thread(
      {last});  // tests run on the process's first thread, as `taskset` would have set it
  const std::vector<int> cores = usable_cores().cores;
  pin_this_thread(all);
  EXPECT_EQ(cores, std::vector<int>{last});
}

/// A machine's files with a CPU quota of so many hundredths of a CPU.
void write_quota(const testing::ScratchDirectory& root, int hundredths) {
  std::filesystem::create_directories(root / "proc/self");
  std::filesystem::create_directories(root / "sys/fs/cgroup");
  testing::write_file(root / "proc/self/cgroup", "0::/\n");
  testing::write_file(root / "proc/self/mountinfo",
                      "30 21 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  testing::write_file(root / "sys/fs/cgroup/cpu.max",
                      std::to_string(hundredths * 1000) + " 100000\n");
}

TEST(UsableCoresTest, AreNotTheProcesssOwnUnderAQuotaBelowItsMask) {
  const testing::ScratchDirectory root;
  const int all = static_cast<int>(allowed_here().size());
  EXPECT_TRUE(usable_cores(root.path()).owned) << "no quota";
  const std::size_t cores = usable_cores(root.path()).cores.size();
  for (const int cpus : {all, all + 1}) {
    write_quota(root, cpus * 100);
    EXPECT_TRUE(usable_cores(root.path()).owned) << cpus;
    EXPECT_EQ(usable_cores(root.path()).cores.size(), cores);
  }
  write_quota(root, 100);
  EXPECT_EQ(usable_cores(root.path()).owned, all == 1);
  EXPECT_EQ(usable_cores(root.path()).cores.size(), 1u);
  if (all > 1) {
    write_quota(root, (all - 1) * 100 - 50);
    EXPECT_FALSE(usable_cores(root.path()).owned);
  }
}

TEST(UsableCoresTest, AreTheSameFromAPinnedThread) {
  const std::vector<int> all = usable_cores().cores;
  EXPECT_EQ(on_pinned_thread<std::vector<int>>({all.front()}, [] { return usable_cores().cores; }),
            all);
}

TEST(PinThisThreadTest, LimitsTheThreadAndThoseItStartsLater) {
  const std::vector<int> all = allowed_here();
  const std::vector<int> pinned = {usable_cores().cores.back()};
  EXPECT_EQ(on_pinned_thread(pinned, allowed_here), pinned);
  EXPECT_EQ(
      on_pinned_thread<std::vector<int>>(pinned,
                                         [] {
                                           std::vector<int> of_child;
                                           std::thread([&] { of_child = allowed_here(); }).join();
                                           return of_child;
                                         }),
      pinned);
  EXPECT_EQ(allowed_here(), all) << "the caller's own thread must stay free";
}

TEST(PinThisThreadTest, NamesTheCoresThatTheSystemRefuses) {
  const std::vector<int> before = allowed_here();
  try {
    pin_this_thread({CPU_SETSIZE, CPU_SETSIZE + 1});
    FAIL() << "no machine has these cores";
  } catch (const DeviceError& error) {
    EXPECT_NE(std::string(error.what()).find("cores 1024,1025"), std::string::npos) << error.what();
  }
  EXPECT_THROW(pin_this_thread({}), DeviceError);
  EXPECT_EQ(allowed_here(), before);
}

TEST(CoresOfCpuMaxTest, RoundsTheQuotaUp) {
  struct Case {
    const char* text;
    std::optional<int> cores;
  };
  const Case cases[] = {
      {"100000 100000\n", 1}, {"200000 100000", 2}, {"150000 100000", 2}, {"1000 100000", 1},
      {"200001 100000", 3},   {"50000 10000", 5},   {"max 100000", {}},   {"", {}},
      {"200000", {}},         {"0 100000", {}},     {"200000 0", {}},     {"-1 100000", {}},
      {"200000 max", {}},     {"two hundred", {}},
  };
  for (const auto& [text, cores] : cases) EXPECT_EQ(cores_of_cpu_max(text), cores) << text;
}

}  // namespace cpu_cores_test
}  // namespace pagoda
