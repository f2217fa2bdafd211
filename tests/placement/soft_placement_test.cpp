#include <pagoda/base/error.h>
#include <pagoda/placement/soft_placement.h>

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "support/sim_machine.h"

namespace pagoda {
namespace soft_placement_test {

using testing::on_sim;
using testing::OtherSimMachine;
using Mode = SoftPlacement::Mode;

/// A decision that keeps what it reports.
struct Decision {
  explicit Decision(Mode mode)
      : soft(mode, [this](const std::string& line) { lines.push_back(line); }) {}

  std::vector<std::string> lines;
  SoftPlacement soft;
};

std::string what_is_thrown(const std::function<void()>& work) {
  try {
    work();
  } catch (const DeviceError& error) {
    return error.what();
  }
  return "";
}

TEST(SoftPlacementTest, AMissingKernelRunsOnTheCpu) {
  PAGODA_NEEDS_SIMULATED_CARDS();
  const OtherSimMachine machine(2, {.missing_kernels = {"aten::cumsum.out"}});
  const at::Tensor x = at::ones({4}, on_sim(1));
  {
    Decision on(Mode::on);
    for (int i = 0; i < 2; ++i) {
      const at::Tensor sums = x.cumsum(0);
      EXPECT_EQ(sums.device(), on_sim(1).device());
      EXPECT_TRUE(sums.cpu().equal(at::tensor({1.f, 2.f, 3.f, 4.f})));
    }
    EXPECT_EQ(
        on.lines,
        (std::vector<std::string>{"aten::cumsum.out has no kernel on sim:1 and runs on the CPU"}));
  }
  Decision off(Mode::off);
  EXPECT_EQ(what_is_thrown([&] { x.cumsum(0); }),
            "aten::cumsum.out has no kernel on sim:1; turn soft placement on to run it on the CPU");
  EXPECT_TRUE(off.lines.empty());
}

TEST(SoftPlacementTest, AMissingKernelOfBackwardToo) {
  PAGODA_NEEDS_SIMULATED_CARDS();
  const OtherSimMachine machine(1, {.missing_kernels = {"aten::sigmoid_backward.grad_input"}});
  const auto gradient = [](at::Device device) {
    const at::Tensor x = at::arange(3, at::kFloat).to(device).requires_grad_();
    x.sigmoid().sum().backward();
    return x.grad().cpu();
  };
  {
    Decision on(Mode::on);
    EXPECT_TRUE(gradient(on_sim(0).device()).equal(gradient(at::kCPU)));
    ASSERT_EQ(on.lines.size(), 1);
    EXPECT_NE(on.lines[0].find("sigmoid_backward"), std::string::npos);
  }
  Decision off(Mode::off);
  EXPECT_NE(what_is_thrown([&] { gradient(on_sim(0).device()); }).find("sigmoid_backward"),
            std::string::npos);
}

TEST(SoftPlacementTest, TensorsOfDifferentCardsStayAnError) {
  PAGODA_NEEDS_SIMULATED_CARDS();
  const OtherSimMachine machine(2, {.missing_kernels = {"aten::mm.out", "aten::dot"}});
  Decision on(Mode::on);
  EXPECT_THROW(at::dot(at::ones({2}, on_sim(0)), at::ones({2}, on_sim(1))), UsageError);
}

TEST(SoftPlacementTest, AMissingDeviceIsReplacedByOneOfItsKindOrTheCpu) {
  Decision on(Mode::on);
  EXPECT_EQ(on.soft.device("sim:2").label(), "sim:2");
  EXPECT_EQ(on.soft.device("cpu:0").label(), "cpu:0");
  EXPECT_TRUE(on.lines.empty());
  EXPECT_EQ(on.soft.device("sim:9").label(), "sim:0");
  EXPECT_EQ(on.soft.device("sim:9").label(), "sim:0");
  EXPECT_EQ(on.lines, (std::vector<std::string>{"device sim:9 is not there; sim:0 stands in"}));
  EXPECT_THROW(on.soft.device("gpu:0"), UsageError);
  EXPECT_THROW(on.soft.device("sim:0,1"), UsageError);
}

TEST(SoftPlacementTest, AMissingKindIsReplacedByTheCpu) {
  if (torch::cuda::is_available()) GTEST_SKIP() << "there is a CUDA card here";
  Decision on(Mode::on);
  EXPECT_EQ(on.soft.device("cuda:1").label(), "cpu:0");
}

std::string labels(const std::vector<Device>& devices) {
  std::string text;
  for (const auto& device : devices) text += (text.empty() ? "" : " ") + device.label();
  return text;
}

TEST(SoftPlacementTest, AListKeepsTheDevicesThatAreThereAndNamesNoneTwice) {
  if (torch::cuda::is_available()) GTEST_SKIP() << "there is a CUDA card here";
  Decision on(Mode::on);
  EXPECT_EQ(labels(on.soft.devices("sim:1,sim:2")), "sim:1 sim:2");
  EXPECT_TRUE(on.lines.empty());
  EXPECT_EQ(labels(on.soft.devices("sim:1,sim:9,sim:10")), "sim:1 sim:0");
  EXPECT_EQ(labels(on.soft.devices("sim:9,sim:0")), "sim:0");
  EXPECT_EQ(labels(on.soft.devices("sim:9,sim:10,cuda:3")), "sim:0 cpu:0");
  EXPECT_EQ(labels(on.soft.devices("cuda:0,1")), "cpu:0");
  EXPECT_EQ(labels(on.soft.devices("cuda")), labels(select_devices("cpu")));
  EXPECT_EQ(on.lines.size(), 6) << "one line for each device that is not there, and for the kind";
  EXPECT_THROW(on.soft.devices("gpu:0"), UsageError);
  EXPECT_THROW(on.soft.devices("0"), UsageError);
}

TEST(SoftPlacementTest, OffAMissingDeviceIsAnError) {
  Decision off(Mode::off);
  EXPECT_EQ(off.soft.device("sim:1").label(), "sim:1");
  EXPECT_THROW(off.soft.device("sim:9"), UsageError);
  EXPECT_THROW(off.soft.devices("sim:0,sim:9"), UsageError);
}

TEST(SoftPlacementTest, OneAtATime) {
  const SoftPlacement first(Mode::off);
  EXPECT_THROW(SoftPlacement(Mode::on), UsageError);
}

}  // namespace soft_placement_test
}  // namespace pagoda
