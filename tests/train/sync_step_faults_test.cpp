// Whatever throws, wherever: the caller learns where, nothing hangs, and until the update nothing
// has changed.

#include <pagoda/base/error.h>
#include <pagoda/train/sync_step.h>

#include <atomic>
#include <chrono>
#include <future>
#include <stdexcept>
#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include "support/late_tower.h"
#include "support/training_bits.h"

namespace pagoda {
namespace sync_step_faults_test {

using testing::all_equal;
using testing::cpu_devices;
using testing::feeds_of;
using testing::in_double;
using testing::kShortTimeout;
using testing::Machine;
using testing::machines;
using testing::MeanSquare;
using testing::message_of;
using testing::Mlp;
using testing::Noisy;
using testing::NoisyTraining;
using testing::thrown_by;
using testing::vector_feed;

constexpr int kSteps = 3;
constexpr int kFaultyStep = 1;

/// Throws once, when the tower enters the phase, after it was armed.
struct Fault {
  std::string phase;
  std::atomic<int> tower = -1;

  void operator()(const TowerJob& job) {
    int expected = job.tower;
    if (job.phase == phase && tower.compare_exchange_strong(expected, -1)) {
      throw std::out_of_range("injected");
    }
  }
};

class FaultTest : public ::testing::TestWithParam<std::tuple<Machine, const char*>> {
 protected:
  const Machine towers_ = std::get<0>(GetParam());
  const std::string phase_ = std::get<1>(GetParam());
};

INSTANTIATE_TEST_SUITE_P(TowersAndPhases, FaultTest,
                         ::testing::Combine(::testing::ValuesIn(machines()),
                                            ::testing::Values("feed", "forward", "backward",
                                                              "collect", "combine", "update",
                                                              "renew")));

TEST_P(FaultTest, IsReportedAndTheStepCanBeRepeated) {
  const auto undisturbed = NoisyTraining(towers_, 7).run_steps(kSteps);
  const bool before_update = phase_ != "update" && phase_ != "renew";
  for (int bad = 0; bad < towers_; ++bad) {
    Fault fault{.phase = phase_};
    NoisyTraining training(towers_, 7, std::ref(fault));
    std::vector<double> losses = {training.run_step().loss};
    const auto before = training.state();

    fault.tower = bad;
    const auto error = thrown_by<TowerError>([&] { training.run_step(); });
    ASSERT_TRUE(error) << "tower " << bad;
    EXPECT_EQ(error->tower(), bad);
    EXPECT_EQ(error->device(), towers_.label(bad));
    EXPECT_EQ(error->phase(), phase_);
    EXPECT_EQ(error->step(), kFaultyStep);
    EXPECT_THROW(std::rethrow_exception(error->cause()), std::out_of_range);
    EXPECT_EQ(training.step().count(), kFaultyStep);

    const auto between = training.state();
    for (int step = kFaultyStep; step < kSteps; ++step) losses.push_back(training.run_step().loss);
    if (!before_update) continue;
    EXPECT_TRUE(all_equal(between, before)) << "tower " << bad;
    auto after = training.state();
    after.push_back(torch::tensor(losses, torch::kDouble));
    EXPECT_TRUE(all_equal(after, undisturbed)) << "tower " << bad;
  }
}

/// The identity, whose backward throws.
template <class Thrown>
struct ThrowingBackward : torch::autograd::Function<ThrowingBackward<Thrown>> {
  static at::Tensor forward(torch::autograd::AutogradContext*, const at::Tensor& x) {
    return x.clone();
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext*,
                                                 torch::autograd::variable_list) {
    throw Thrown("from backward");
  }
};

struct NotAnException {
  explicit NotAnException(const char*) {}
};

struct LossCase {
  const char* name;
  const char* phase;
  at::Tensor (*loss)(Noisy& model, const Batch& batch);
};

const LossCase kThrowingLosses[] = {
    {"loss", "forward",
     [](Noisy&, const Batch&) -> at::Tensor { throw std::runtime_error("from the loss"); }},
    {"loss_not_std", "forward", [](Noisy&, const Batch&) -> at::Tensor { throw 42; }},
    {"model", "forward",
     [](Noisy& model, const Batch& batch) {
       return model->forward(batch.input.slice(1, 1)).mean();
     }},
    {"backward", "backward",
     [](Noisy& model, const Batch& batch) {
       return ThrowingBackward<std::runtime_error>::apply(MeanSquare()(model, batch));
     }},
    {"backward_not_std", "backward",
     [](Noisy& model, const Batch& batch) {
       return ThrowingBackward<NotAnException>::apply(MeanSquare()(model, batch));
     }},
};

class ThrowingLossTest : public ::testing::TestWithParam<std::tuple<Machine, LossCase>> {};

INSTANTIATE_TEST_SUITE_P(Cases, ThrowingLossTest,
                         ::testing::Combine(::testing::ValuesIn(machines()),
                                            ::testing::ValuesIn(kThrowingLosses)),
                         [](const auto& info) {
                           return std::string(std::get<1>(info.param).name) + "_" +
                                  std::get<0>(info.param).name();
                         });

TEST_P(ThrowingLossTest, IsReportedAndTheStepCanBeRepeated) {
  const auto& [towers, loss_case] = GetParam();
  if (towers.kind == testing::kCardKind && loss_case.name == std::string("backward_not_std")) {
    GTEST_SKIP() << "LibTorch's backward threads of cards end the process on such an exception";
  }
  const auto undisturbed = NoisyTraining(towers, 7).run_steps(1);
  NoisyTraining training(towers, 7);
  // Only the last feed of all throws: the other towers do their work, and so does its own tower
  // before.
  const std::int64_t last_sample = 2 * towers * 3 - 1;
  const auto error = thrown_by<TowerError>([&] {
    training.run_step([&](Noisy& model, const Batch& batch) {
      const bool last = batch.samples.back() == last_sample;
      return last ? loss_case.loss(model, batch) : MeanSquare()(model, batch);
    });
  });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->tower(), towers - 1);
  EXPECT_EQ(error->phase(), loss_case.phase);
  EXPECT_TRUE(all_equal(training.run_steps(1), undisturbed));
}

TEST(SyncStepFaultsTest, ALateTowerIsNamedAndDoesNotCrashWhenItComesBack) {
  for (const char* phase : {"feed", "forward", "backward", "collect"}) {
    SCOPED_TRACE(phase);
    std::promise<void> release;
    auto released = release.get_future().share();
    auto towers =
        make_towers(cpu_devices(3), [] { return in_double(Mlp()); }, {.timeout = kShortTimeout});
    SyncStep step(towers, Adam{}, {.on_phase = [=](const TowerJob& job) {
                    if (job.tower == 1 && job.phase == std::string(phase)) released.wait();
                  }});
    const auto run = [&] { step.run(feeds_of(vector_feed, {2, 2, 2}, 0), MeanSquare()); };
    const std::string text = message_of<DeviceError>(run);
    EXPECT_NE(text.find("tower 1 (cpu:1)"), std::string::npos) << text;
    EXPECT_NE(message_of<DeviceError>(run), "") << "the group cannot be used any more";
    release.set_value();  // the tower goes on while everything around it is destroyed
  }
}

}  // namespace sync_step_faults_test
}  // namespace pagoda
