#include "device/cgroup.h"

#include <pagoda/device/device_memory.h>

#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "support/scratch_directory.h"

namespace pagoda {
namespace cgroup_test {

/// A made-up machine's files.
class CgroupTest : public ::testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) {
    const auto file = root_.path() / path;
    std::filesystem::create_directories(file.parent_path());
    testing::write_file(file, text);
  }

  void has_version_2(const std::string& group) {
    write("proc/self/cgroup", "0::" + group + "\n");
    write("proc/self/mountinfo",
          "21 1 8:1 / / rw - ext4 /dev/sda rw\n"
          "30 21 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n");
  }

  /// As in a container that sees the part `top` of the hierarchies.
  void has_version_1(const std::string& group, const std::string& top) {
    write("proc/self/cgroup", "12:cpuset:/\n5:memory:" + group + "\n4:cpu,cpuacct:" + group +
                                  "\n1:name=systemd:" + group + "\n0::/\n");
    write("proc/self/mountinfo",
          "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"
          "32 31 0:29 " +
              top +
              " /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
              "33 31 0:30 " +
              top + " /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
  }

  CgroupLimits limits() const { return cgroup_limits(root_.path()); }

  const testing::ScratchDirectory root_;
};

TEST_F(CgroupTest, WithoutFilesThereIsNoLimit) {
  EXPECT_FALSE(limits().cpus);
  EXPECT_FALSE(limits().memory_bytes);
  has_version_2("/a");
  EXPECT_FALSE(limits().cpus);
  write("sys/fs/cgroup/a/cpu.max", "max 100000\n");
  write("sys/fs/cgroup/a/memory.max", "max\n");
  EXPECT_FALSE(limits().cpus);
  EXPECT_FALSE(limits().memory_bytes);
  EXPECT_FALSE(limits().memory_left);
}

TEST_F(CgroupTest, TheTightestGroupOnTheWayUpCounts) {
  has_version_2("/user/run");
  write("sys/fs/cgroup/user/run/cpu.max", "800000 100000\n");
  write("sys/fs/cgroup/user/cpu.max", "250000 100000\n");
  write("sys/fs/cgroup/user/run/memory.max", "5000\n");
  write("sys/fs/cgroup/user/run/memory.current", "1000\n");
  write("sys/fs/cgroup/user/memory.max", "6000\n");
  write("sys/fs/cgroup/user/memory.current", "5500\n");
  write("sys/fs/cgroup/user/memory.stat", "anon 3\ninactive_file 200\n");
  EXPECT_EQ(limits().cpus, 3) << "rounded up";
  EXPECT_EQ(limits().memory_bytes, 5000);
  EXPECT_EQ(limits().memory_left, 6000 - 5500 + 200);
}

TEST_F(CgroupTest, Version1HasOtherFilesAndNumbers) {
  has_version_1("/docker/abc", "/docker/abc");
  write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "150000\n");
  write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9000\n");
  write("sys/fs/cgroup/memory/memory.usage_in_bytes", "4000\n");
  write("sys/fs/cgroup/memory/memory.stat", "inactive_file 1\ntotal_inactive_file 500\n");
  EXPECT_EQ(limits().cpus, 2);
  EXPECT_EQ(limits().memory_bytes, 9000);
  EXPECT_EQ(limits().memory_left, 9000 - 4000 + 500);
}

TEST_F(CgroupTest, Version1WithoutLimits) {
  has_version_1("/a", "/");
  write("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "-1\n");
  write("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "100000\n");
  write("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_FALSE(limits().cpus);
  EXPECT_FALSE(limits().memory_bytes);
}

TEST_F(CgroupTest, AGroupOutsideOfWhatIsMountedReadsTheMountItself) {
  has_version_2("/../other");
  write("sys/fs/cgroup/cpu.max", "400000 100000\n");
  EXPECT_EQ(limits().cpus, 4);
}

TEST_F(CgroupTest, FreeMemoryIsWhatTheGroupHasLeft) {
  has_version_2("/a");
  write("proc/meminfo", "MemTotal: 90 kB\nMemAvailable:   50 kB\n");
  EXPECT_EQ(available_host_bytes(root_.path()), 50 * 1024);
  write("sys/fs/cgroup/a/memory.max", "30000\n");
  write("sys/fs/cgroup/a/memory.current", "40000\n");
  EXPECT_EQ(available_host_bytes(root_.path()), 0)
      << "more in use than the limit, as after lowering";
  write("sys/fs/cgroup/a/memory.current", "10000\n");
  EXPECT_EQ(available_host_bytes(root_.path()), 20000);
}

TEST_F(CgroupTest, FilesOfAnotherFormAreNoLimit) {
  has_version_2("/a");
  write("proc/self/mountinfo",
        "1 2 3 - cgroup2\n - \n30 21 0:26 / relative rw - cgroup2 cgroup2 rw\n");
  write("sys/fs/cgroup/a/memory.max", "5000\n");
  EXPECT_FALSE(limits().memory_bytes);
  has_version_2("/a");
  write("sys/fs/cgroup/a/memory.max", "-5000\n");
  EXPECT_FALSE(limits().memory_bytes);
}

TEST_F(CgroupTest, NumbersThatCannotBeAreTakenAsTheNearestThatCan) {
  has_version_2("/a");
  write("sys/fs/cgroup/a/cpu.max", "9223372036854775807 1\n");
  write("sys/fs/cgroup/a/memory.max", "5000\n");
  write("sys/fs/cgroup/a/memory.current", "-9223372036854775807\n");
  write("sys/fs/cgroup/a/memory.stat", "inactive_file 9223372036854775807\n");
  EXPECT_EQ(limits().cpus, std::numeric_limits<int>::max());
  EXPECT_EQ(limits().memory_left, 5000);
  write("sys/fs/cgroup/a/memory.current", "9223372036854775807\n");
  write("sys/fs/cgroup/a/memory.stat", "inactive_file -9223372036854775807\n");
  EXPECT_EQ(limits().memory_left, 0);
}

}  // namespace cgroup_test
}  // namespace pagoda
