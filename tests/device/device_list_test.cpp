#include <pagoda/base/error.h>
#include <pagoda/device/cpu_cores.h>
#include <pagoda/device/device_list.h>
#include <pagoda/device/sim_devices.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "device/cuda_cards.h"

namespace pagoda {
namespace device_list_test {

int core_count() { return static_cast<int>(usable_cores().cores.size()); }

std::vector<std::string> labels(const std::vector<Device>& devices) {
  std::vector<std::string> labels;
  for (const auto& device : devices) labels.push_back(device.label());
  return labels;
}

std::vector<std::string> cpu_labels(int count) {
  std::vector<std::string> labels;
  for (int i = 0; i < count; ++i) labels.push_back("cpu:" + std::to_string(i));
  return labels;
}

/// "cpu:0,1,…": CPU devices whether or not the machine has cards.
std::string cpu_list(int count) {
  std::string list = "cpu:0";
  for (int i = 1; i < count; ++i) list += "," + std::to_string(i);
  return list;
}

std::vector<int> all_cores(const std::vector<Device>& devices) {
  std::vector<int> cores;
  for (const auto& device : devices) {
    cores.insert(cores.end(), device.cores.begin(), device.cores.end());
  }
  return cores;
}

TEST(SelectDevicesTest, GivesTheNamedDevicesInTheirOrder) {
  struct Case {
    std::string text;
    std::vector<std::string> labels;
  };
  const Case cases[] = {
      {"all", labels(visible_devices())},
      {"cpu", cpu_labels(std::min(core_count(), kDefaultCpuDevices))},
      {"cpu:0", {"cpu:0"}},
  };
  for (const auto& [text, expected] : cases) {
    EXPECT_EQ(labels(select_devices(text)), expected) << text;
  }
}

TEST(SelectDevicesTest, TheLastCoreCanBeNamedAndNoneBeyondIt) {
  const int cores = core_count();
  const std::string last = "cpu:" + std::to_string(cores - 1);
  EXPECT_EQ(labels(select_devices(last)), std::vector<std::string>{last});
  if (cores > 1) {
    EXPECT_EQ(labels(select_devices(last + ",cpu:0")), (std::vector<std::string>{last, "cpu:0"}));
    EXPECT_EQ(labels(select_devices("cpu:0,1")), (std::vector<std::string>{"cpu:0", "cpu:1"}));
  }
  const std::string beyond = "cpu:" + std::to_string(cores);
  try {
    select_devices("cpu:0," + beyond);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find(beyond + " is not there"), std::string::npos)
        << error.what();
  }
}

TEST(SelectDevicesTest, NumberWithoutCardsMeansSoManyGroupsOfCores) {
  if (!cuda_cards().empty()) GTEST_SKIP() << "a number means cards here";
  for (const int count : {1, 2, 3, 8}) {
    EXPECT_EQ(labels(select_devices(std::to_string(count))), cpu_labels(count));
  }
}

TEST(SelectDevicesTest, WordCudaWithoutCardsIsRefused) {
  if (!cuda_cards().empty()) GTEST_SKIP() << "there are cards here";
  EXPECT_THROW(select_devices("cuda"), UsageError);
}

TEST(SelectDevicesTest, NumberTakesTheFirstCards_Cuda) {
  const auto cards = labels(cuda_cards());
  if (cards.empty()) GTEST_SKIP() << "no CUDA card";
  EXPECT_EQ(labels(select_devices("cuda")), cards);
  EXPECT_EQ(labels(select_devices("1")), std::vector<std::string>{"cuda:0"});
  EXPECT_EQ(labels(select_devices("cuda:0,cpu:0")), (std::vector<std::string>{"cuda:0", "cpu:0"}));
  EXPECT_THROW(select_devices(std::to_string(cards.size() + 1)), UsageError);
}

TEST(SelectDevicesTest, NamesTheBadPart) {
  struct Case {
    const char* text;
    const char* named;
  };
  const Case cases[] = {
      {"", "''"},
      {"0", "0 devices"},
      {"-1", "'-1'"},
      {"+1", "'+1'"},
      {" 1", "' 1'"},
      {"1.5", "'1.5'"},
      {"99999999999999999999", "'99999999999999999999'"},
      {"0,1", "'0'"},
      {"gpu", "'gpu'"},
      {"CPU", "'CPU'"},
      {"gpu:0", "'gpu:0'"},
      {":0", "':0'"},
      {"cpu:", "'cpu:'"},
      {"cpu:x", "'cpu:x'"},
      {"cpu:-1", "'cpu:-1'"},
      {"cpu:0:1", "'cpu:0:1'"},
      {"cpu:0,", "''"},
      {",cpu:0", "''"},
      {"cpu:0,,1", "''"},
      {"cpu:0, 1", "' 1'"},
      {"cpu:0,cpu", "'cpu'"},
      {"cpu:0,tpu:1", "'tpu:1'"},
      {"cpu:0,0", "cpu:0 is listed twice"},
      {"cpu:1,0,cpu:1", "cpu:1 is listed twice"},
      {"cuda:5000", "cuda:5000"},
      {"cpu:0,cuda:5000", "cuda:5000"},
      {"cpu:5000", "cpu:5000"},
      {"cpu:2147483647", "cpu:2147483647"},
      {"2147483647", "2147483647 devices"},
  };
  for (const auto& [text, named] : cases) {
    try {
      select_devices(text);
      ADD_FAILURE() << "'" << text << "' was understood";
    } catch (const UsageError& error) {
      EXPECT_NE(std::string(error.what()).find(named), std::string::npos) << error.what();
    }
  }
}

TEST(SelectDevicesTest, CoresPerTowerGivesEveryDeviceSoManyOfItsOwn) {
  for (int each = 1; each <= core_count(); ++each) {
    const auto devices = select_devices("cpu", {.cores_per_tower = each});
    EXPECT_EQ(labels(devices), cpu_labels(core_count() / each));
    for (const auto& device : devices) EXPECT_EQ(static_cast<int>(device.cores.size()), each);
    EXPECT_TRUE(shared_cores(devices).empty());
  }
}

TEST(SelectDevicesTest, CoresAreDealtOutEvenly) {
  const auto devices = select_devices("cpu");
  EXPECT_EQ(all_cores(devices), usable_cores().cores) << "every core once, neighbours together";
  const auto [least, most] =
      std::ranges::minmax(devices, {}, [](auto& d) { return d.cores.size(); });
  EXPECT_LE(most.cores.size(), least.cores.size() + 1);
}

TEST(SelectDevicesTest, MoreDevicesThanCoresShareThem) {
  if (!cuda_cards().empty()) GTEST_SKIP() << "a number means cards here";
  const std::vector<int> cores = usable_cores().cores;
  for (const int count : {core_count() + 1, 2 * core_count(), 3 * core_count() + 1}) {
    const auto devices = select_devices(std::to_string(count));
    EXPECT_EQ(labels(devices), cpu_labels(count));
    for (const auto& device : devices) EXPECT_EQ(device.cores.size(), 1u) << device.label();
    const std::vector<int> used = all_cores(devices);
    EXPECT_EQ(std::set(used.begin(), used.end()), std::set(cores.begin(), cores.end()));
    EXPECT_FALSE(shared_cores(devices).empty());
  }
}

TEST(SelectDevicesTest, CoresPerTowerBeginsAgainPastTheLastCore) {
  if (!cuda_cards().empty()) GTEST_SKIP() << "a number means cards here";
  const std::vector<int> cores = usable_cores().cores;
  const auto devices = select_devices(std::to_string(core_count() + 1), {.cores_per_tower = 1});
  EXPECT_EQ(devices.back().cores, std::vector<int>{cores.front()});
  EXPECT_EQ(shared_cores(devices), std::vector<int>{cores.front()});
}

TEST(SelectDevicesTest, TowerNeverGetsMoreCoresThanThereAre) {
  for (const int wanted : {core_count(), core_count() + 1, 2'000'000'000}) {
    const DeviceOptions options{.cores_per_tower = wanted};
    EXPECT_EQ(all_cores(select_devices("cpu", options)), usable_cores().cores);
    for (const auto& device : select_devices(cpu_list(core_count()), options)) {
      EXPECT_EQ(std::set(device.cores.begin(), device.cores.end()).size(),
                usable_cores().cores.size());
    }
  }
}

TEST(DeviceListTest, ListsCardsFirstThenTheCpu) {
  auto expected = labels(cuda_cards());
  for (const auto& label : labels(sim_devices())) expected.push_back(label);
  for (const auto& label : labels(select_devices("cpu"))) expected.push_back(label);
  const auto devices = list_devices();
  EXPECT_EQ(labels(devices), expected);
  for (const auto& device : devices) {
    EXPECT_EQ(device.original, device.index);
    EXPECT_GT(device.memory_bytes, 0);
    EXPECT_FALSE(device.name.empty());
  }
}

TEST(DeviceListTest, VisibleAreTheCardsOrElseTheCpu) {
  auto cards = labels(cuda_cards());
  if (cards.empty()) cards = labels(sim_devices());
  EXPECT_EQ(labels(visible_devices()), cards.empty() ? labels(select_devices("cpu")) : cards);
}

TEST(DeviceListTest, RefusesTowersWithoutCores) {
  for (const int cores : {0, -1}) {
    EXPECT_THROW(visible_devices({.cores_per_tower = cores}), UsageError);
    EXPECT_THROW(list_devices({.cores_per_tower = cores}), UsageError);
    EXPECT_THROW(select_devices("cpu:0", {.cores_per_tower = cores}), UsageError);
  }
}

TEST(SharedCoresTest, AreThoseOfTwoOrMoreDevices) {
  const auto with_cores = [](std::vector<int> cores) {
    Device device;
    device.cores = std::move(cores);
    return device;
  };
  EXPECT_TRUE(shared_cores({}).empty());
  EXPECT_TRUE(shared_cores({with_cores({0, 1}), with_cores({2, 3}), with_cores({})}).empty());
  EXPECT_EQ(shared_cores({with_cores({5, 1}), with_cores({1, 2}), with_cores({5, 2, 1, 4})}),
            (std::vector<int>{1, 2, 5}));
}

}  // namespace device_list_test
}  // namespace pagoda
