// What a group does when a tower throws, is late, or cannot be built.

#include <pagoda/base/error.h>
#include <pagoda/tower/tower_group.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "support/late_tower.h"
#include "support/small_models.h"
#include "support/tower_fixtures.h"

namespace pagoda {
namespace tower_group_faults_test {

using testing::cpu_devices;
using testing::kTowerCounts;
using testing::make_module;
using testing::message_of;
using testing::MlpImpl;
using testing::NoisyImpl;
using testing::thrown_by;

TowerOptions with_placement(ParameterPlacement placement) { return {.placement = placement}; }

class TowerGroupFaultsTest : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Towers, TowerGroupFaultsTest, ::testing::ValuesIn(kTowerCounts));

TEST_P(TowerGroupFaultsTest, ReportsWhatATowerThrowsWithItsPlace) {
  TowerGroup towers(cpu_devices(GetParam()), make_module<MlpImpl>);
  for (int bad = 0; bad < GetParam(); ++bad) {
    const auto error = thrown_by<TowerError>([&] {
      towers.run({.name = "first", .step = 41}, [bad](TowerJob& job) {
        job.phase = "second";
        if (job.tower == bad) throw std::out_of_range("nothing there");
      });
    });
    ASSERT_TRUE(error);
    const std::string number = std::to_string(bad);
    EXPECT_EQ(error->what(),
              "tower " + number + " (cpu:" + number + "), second, step 41: nothing there");
    EXPECT_THROW(std::rethrow_exception(error->cause()), std::out_of_range);
  }
  towers.run({.name = "test"}, [](TowerJob&) {});
}

TEST_P(TowerGroupFaultsTest, ReportsTheFirstTowerWhenSeveralThrow) {
  TowerGroup towers(cpu_devices(GetParam()), make_module<MlpImpl>);
  const auto error = thrown_by<TowerError>(
      [&] { towers.run({.name = "test"}, [](TowerJob& job) { throw job.tower; }); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->tower(), 0);
  EXPECT_THROW(std::rethrow_exception(error->cause()), int);
}

TEST_P(TowerGroupFaultsTest, AUsageErrorOfATowerStaysOne) {
  TowerGroup towers(cpu_devices(GetParam()), make_module<MlpImpl>);
  const std::string text = message_of<UsageError>([&] {
    towers.run({.name = "test", .step = 3}, [](TowerJob&) { throw UsageError("bad option"); });
  });
  EXPECT_EQ(text, "tower 0 (cpu:0), test, step 3: bad option");
}

TEST_P(TowerGroupFaultsTest, AFactoryThatThrowsIsReportedForItsTower) {
  for (const ParameterPlacement placement :
       {ParameterPlacement::shared, ParameterPlacement::host}) {
    for (int bad = 0; bad < GetParam(); ++bad) {
      const auto error = thrown_by<TowerError>([&] {
        TowerGroup(
            cpu_devices(GetParam()),
            [bad](int tower) {
              if (tower == bad) throw std::runtime_error("no such file");
              return make_module<MlpImpl>(tower);
            },
            with_placement(placement));
      });
      ASSERT_TRUE(error);
      EXPECT_EQ(error->tower(), bad);
      EXPECT_EQ(error->phase(), "construction");
    }
  }
}

TEST(TowerGroupFaultsTest, RefusesReplicasThatDiffer) {
  const auto build = [](const ModelFactory& factory) {
    return message_of<UsageError>([&] { TowerGroup(cpu_devices(2), factory); });
  };
  const std::string shapes = build([](int tower) -> std::shared_ptr<torch::nn::Module> {
    return std::make_shared<torch::nn::LinearImpl>(4, 5 + tower);
  });
  EXPECT_NE(shapes.find("tower 1"), std::string::npos) << shapes;
  EXPECT_NE(shapes.find("'weight'"), std::string::npos) << shapes;
  EXPECT_NE(build([](int tower) {
              return tower == 0 ? make_module<MlpImpl>(0) : make_module<NoisyImpl>(1);
            }),
            "");
  EXPECT_NE(build([](int tower) {
              auto model = std::make_shared<MlpImpl>();
              if (tower == 1) model->hidden->weight.set_requires_grad(false);
              return model;
            }),
            "");
  EXPECT_NE(build([](int) { return nullptr; }), "");
}

TEST(TowerGroupFaultsTest, RefusesNoDevices) {
  EXPECT_THROW(TowerGroup({}, make_module<MlpImpl>), UsageError);
}

/// A group with a short timeout whose last tower waits for `release`, which the work shares.
struct LateTower {
  std::shared_ptr<std::promise<void>> release = std::make_shared<std::promise<void>>();
  std::shared_ptr<std::promise<void>> came_back = std::make_shared<std::promise<void>>();
  TowerGroup towers{cpu_devices(3), make_module<MlpImpl>, {.timeout = testing::kShortTimeout}};

  std::string message() {
    return message_of<DeviceError>([this] {
      towers.run({.name = "backward", .step = 12},
                 [release = release, came_back = came_back](TowerJob& job) {
                   if (job.tower != 2) return;
                   release->get_future().wait();
                   came_back->set_value();
                 });
    });
  }
};

TEST(TowerGroupFaultsTest, ALateTowerIsNamedAndEndsTheGroup) {
  LateTower late;
  const std::string text = late.message();
  EXPECT_NE(text.find("tower 2 (cpu:2)"), std::string::npos) << text;
  EXPECT_NE(text.find("backward of step 12 within 1000 ms"), std::string::npos) << text;
  EXPECT_FALSE(late.towers.usable());
  const auto run = [&] { late.towers.run({.name = "next"}, [](TowerJob&) {}); };
  EXPECT_NE(message_of<DeviceError>(run).find("tower 2"), std::string::npos);
  late.release->set_value();
  late.came_back->get_future().wait();
  EXPECT_THROW(run(), DeviceError) << "nobody knows what the late tower has done meanwhile";
}

TEST(TowerGroupFaultsTest, DestructionDoesNotWaitForeverForALateTower) {
  std::shared_ptr<std::promise<void>> release;
  {
    LateTower late;
    ASSERT_NE(late.message(), "");
    release = late.release;
  }
  release->set_value();
}

TEST(TowerGroupFaultsTest, ATowerThatIsLateInConstructionFindsItsFactoryWhenItComesBack) {
  const auto late = std::make_shared<testing::LateWork>();
  EXPECT_THROW(TowerGroup(cpu_devices(2),
                          [late, kept = testing::Kept()](int tower) {
                            if (tower == 1) {
                              late->stay_away();
                              late->come_back(kept.alive());
                            }
                            return make_module<MlpImpl>(tower);
                          },
                          {.timeout = testing::kShortTimeout}),
               DeviceError);
  late->release();
  EXPECT_TRUE(late->all_was_there());
}

bool is_stopped(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string stat;
  std::getline(file, stat);
  return stat.find(") T ") != std::string::npos;
}

/// A job that stops the whole process for longer than the group's limit; another process continues it.
void suspend_in_a_job() {
  using namespace std::chrono_literals;
  constexpr auto kLimit = 800ms;
  const pid_t self = getpid();
  if (fork() == 0) {
    while (!is_stopped(self) && getppid() == self) std::this_thread::yield();
    std::this_thread::sleep_for(3 * kLimit / 2);  // no wait for anything: the time that is to pass
    kill(self, SIGCONT);
    _exit(0);
  }
  TowerGroup towers(cpu_devices(2), make_module<MlpImpl>, {.timeout = kLimit});
  towers.run({.name = "test"}, [self](TowerJob& job) {
    if (job.tower == 0) kill(self, SIGSTOP);
  });
  _exit(0);
}

TEST(TowerGroupSuspensionTest, TimeInWhichTheProcessIsSuspendedDoesNotCount) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(suspend_in_a_job(), ::testing::ExitedWithCode(0), "");
}

}  // namespace tower_group_faults_test
}  // namespace pagoda
