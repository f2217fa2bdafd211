#include <pagoda/base/error.h>
#include <pagoda/placement/placement_log.h>

#include <algorithm>
#include <pthread.h>
#include <thread>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "support/sim_machine.h"

namespace pagoda {
namespace placement_log_test {

using testing::on_card;

std::vector<std::string> texts(const PlacementLog& log) {
  std::vector<std::string> lines;
  for (const auto& op : log.operators()) lines.push_back(op.text());
  return lines;
}

TEST(PlacementLogTest, NotesEachOperatorOnceWithItsDevices) {
  const at::Tensor a = at::ones({2, 2}, on_card(0));
  const PlacementLog log;
  for (int i = 0; i < 3; ++i) a.mm(a);
  at::cat({a, a});
  const at::Tensor host = a.to(at::kCPU);
  host.add(1);
  EXPECT_EQ(texts(log), (std::vector<std::string>{
                            "aten::mm: sim:0, sim:0 -> sim:0", "aten::cat: sim:0, sim:0 -> sim:0",
                            "aten::to: sim:0 -> cpu", "aten::add: cpu -> cpu"}));
}

TEST(PlacementLogTest, KnowsTowersAndBackward) {
  const at::Tensor a = at::ones({2}, on_card(1)).requires_grad_();
  const PlacementLog log;
  at::Tensor loss;
  std::thread tower([&] {
    pthread_setname_np(pthread_self(), "tower 3");
    loss = a.exp().sum();
  });
  tower.join();
  loss.backward();
  const auto lines = texts(log);
  EXPECT_TRUE(std::count(lines.begin(), lines.end(), "tower 3: aten::exp: sim:1 -> sim:1"));
  EXPECT_TRUE(std::any_of(lines.begin(), lines.end(), [](const std::string& line) {
    return line.starts_with("backward: aten::mul");
  })) << ::testing::PrintToString(lines);
}

TEST(PlacementLogTest, OneAtATime) {
  {
    const PlacementLog log;
    EXPECT_THROW(PlacementLog(), UsageError);
    at::ones({1});
    EXPECT_FALSE(log.operators().empty());
  }
  const PlacementLog next;
  EXPECT_TRUE(next.operators().empty());
}

}  // namespace placement_log_test
}  // namespace pagoda
