#include "tower/tower_thread.h"

#include <pagoda/base/error.h>

#include <array>
#include <future>
#include <pthread.h>
#include <sched.h>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "support/tower_fixtures.h"

namespace pagoda {
namespace tower_thread_test {

using testing::cpu_device_of_cores;
using testing::cpu_devices;

TowerThread::Outcome outcome_of(TowerThread& thread, std::exception_ptr& error,
                                Patience patience = Patience(std::chrono::minutes(1))) {
  return thread.wait(patience, error);
}

/// Runs `work` in the thread and gives back what it returns.
template <class Work>
auto result_of(TowerThread& thread, Work work, std::optional<std::uint64_t> seed = std::nullopt) {
  std::optional<decltype(work())> result;
  thread.start([&] { result = work(); }, seed);
  std::exception_ptr error;
  if (outcome_of(thread, error) == TowerThread::Outcome::late) throw std::runtime_error("late");
  if (error) std::rethrow_exception(error);
  return *result;
}

std::set<int> cores_of_this_thread() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  sched_getaffinity(0, sizeof mask, &mask);
  std::set<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &mask)) cores.insert(core);
  }
  return cores;
}

class TowerThreadCoresTest : public ::testing::TestWithParam<std::size_t> {};

TEST_P(TowerThreadCoresTest, RunsOnItsDevicesCoresWithAsManyThreads) {
  const Device device = cpu_device_of_cores(GetParam());
  TowerThread thread(0, device);
  EXPECT_EQ(result_of(thread, cores_of_this_thread),
            std::set<int>(device.cores.begin(), device.cores.end()));
  EXPECT_EQ(result_of(thread, [] { return at::get_num_threads(); }),
            static_cast<int>(device.cores.size()));
}

INSTANTIATE_TEST_SUITE_P(Cores, TowerThreadCoresTest, ::testing::Values(1u, 2u));

TEST(TowerThreadTest, LeavesTheCallersThreadAsItWas) {
  const auto cores = cores_of_this_thread();
  const int threads = at::get_num_threads();
  TowerThread thread(0, cpu_device_of_cores(1));
  EXPECT_EQ(cores_of_this_thread(), cores);
  EXPECT_EQ(at::get_num_threads(), threads);
}

TEST(TowerThreadTest, IsOneThreadWithAName) {
  TowerThread thread(3, cpu_devices(1)[0]);
  const auto id = result_of(thread, [] { return std::this_thread::get_id(); });
  EXPECT_NE(id, std::this_thread::get_id());
  EXPECT_EQ(result_of(thread, [] { return std::this_thread::get_id(); }), id);
  EXPECT_EQ(result_of(thread,
                      [] {
                        std::array<char, 16> name{};
                        pthread_getname_np(pthread_self(), name.data(), name.size());
                        return std::string(name.data());
                      }),
            "tower 3");
}

TEST(TowerThreadTest, ASeedBeginsTheRandomStreamAnew) {
  TowerThread thread(0, cpu_devices(1)[0]);
  const auto draw = [] { return torch::rand(8); };
  const at::Tensor first = result_of(thread, draw, 5);
  const at::Tensor second = result_of(thread, draw);
  EXPECT_FALSE(second.equal(first));
  EXPECT_TRUE(result_of(thread, draw, 5).equal(first));
  EXPECT_TRUE(result_of(thread, draw).equal(second));
}

TEST(TowerThreadTest, AnExceptionComesFromWaitOnce) {
  TowerThread thread(0, cpu_devices(1)[0]);
  EXPECT_THROW(result_of(thread, []() -> int { throw std::out_of_range("x"); }), std::out_of_range);
  EXPECT_THROW(result_of(thread, []() -> int { throw 42; }), int);
  EXPECT_EQ(result_of(thread, [] { return 1; }), 1);
}

TEST(TowerThreadTest, AJobsCapturesEndBeforeItIsWaitedFor) {
  TowerThread thread(0, cpu_devices(1)[0]);
  auto held = std::make_shared<int>(1);
  const std::weak_ptr<int> seen = held;
  thread.start([held = std::move(held)] {}, std::nullopt);
  std::exception_ptr error;
  ASSERT_EQ(outcome_of(thread, error), TowerThread::Outcome::finished);
  EXPECT_TRUE(seen.expired());
}

TEST(TowerThreadTest, ALateJobIsReportedAndCanStillEnd) {
  TowerThread thread(0, cpu_devices(1)[0]);
  std::promise<void> release;
  thread.start([&] { release.get_future().wait(); }, std::nullopt);
  std::exception_ptr error;
  EXPECT_EQ(outcome_of(thread, error, Patience(std::chrono::seconds(0))),
            TowerThread::Outcome::late);
  release.set_value();
  EXPECT_TRUE(thread.settle());
  EXPECT_EQ(outcome_of(thread, error), TowerThread::Outcome::finished);
}

TEST(TowerThreadTest, DestructionLeavesAStuckJobToItself) {
  const auto release = std::make_shared<std::promise<void>>();
  auto ended = std::make_shared<std::promise<void>>();
  auto has_ended = ended->get_future();
  {
    TowerThread thread(0, cpu_devices(1)[0]);
    thread.start(
        [release, ended] {
          release->get_future().wait();
          ended->set_value();
        },
        std::nullopt);
  }
  EXPECT_EQ(has_ended.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  release->set_value();
  EXPECT_EQ(has_ended.wait_for(std::chrono::minutes(1)), std::future_status::ready);
}

TEST(TowerThreadTest, ADeviceWithoutUsableCoresIsAnError) {
  Device device = cpu_devices(1)[0];
  device.cores = {CPU_SETSIZE - 1};
  EXPECT_THROW(TowerThread(0, device), DeviceError);
  device.cores = {};
  EXPECT_THROW(TowerThread(0, device), DeviceError);
}

}  // namespace tower_thread_test
}  // namespace pagoda
