#include "sim/sim_copy.h"

#include <pagoda/base/error.h>

#include <ATen/ATen.h>
#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <gtest/gtest.h>

#include "sim/sim_streams.h"
#include "support/sim_machine.h"

namespace pagoda {
namespace sim_copy_test {

using testing::on_sim;
using testing::OtherSimMachine;

at::Tensor pinned(double value) {
  return at::full({1000}, value).pin_memory();
}

bool all_are(const at::Tensor& tensor, double value) {
  return tensor.eq(value).all().item<bool>();
}

TEST(SimCopyTest, ACopyToPinnedMemoryIsLate) {
  const at::Tensor card = at::full({1000}, 7, on_sim(1));
  const at::Tensor host = pinned(1);
  host.copy_(card, /*non_blocking=*/true);
  EXPECT_TRUE(all_are(host, 1)) << "the host sees the old numbers";
  synchronise(current_sim_stream(1));
  EXPECT_TRUE(all_are(host, 7));
  const at::Tensor made = card.to(at::kCPU, /*non_blocking=*/true);  // LibTorch pins it
  ASSERT_TRUE(made.is_pinned());
  c10::Event event(at::kPrivateUse1);
  event.record(c10::Stream(c10::Stream::DEFAULT, card.device()));
  event.synchronize();
  EXPECT_TRUE(all_are(made, 7));
}

TEST(SimCopyTest, ACopyFromPinnedMemoryIsThereInStreamOrder) {
  at::Tensor card = at::full({1000}, 3, on_sim(1));
  {
    const at::Tensor host = pinned(7);
    card.copy_(host, /*non_blocking=*/true);
  }  // freed memory lives until the copy is done
  EXPECT_TRUE(all_are(card + 1, 8));
}

TEST(SimCopyTest, CopiesFromAndToOtherMemoryBlock) {
  const at::Tensor host = at::full({1000}, 7);
  at::Tensor card = at::full({1000}, 3, on_sim(1));
  card.copy_(host, /*non_blocking=*/true);
  host.fill_(9);  // too late to matter
  EXPECT_TRUE(all_are(card, 7));
  host.copy_(card, /*non_blocking=*/true);
  EXPECT_TRUE(all_are(host, 7));
}

TEST(SimCopyTest, OverwritingTheSourceTooEarlyIsAnError) {
  const at::Tensor host = pinned(7);
  at::Tensor card = at::zeros({1000}, on_sim(1));
  card.copy_(host, /*non_blocking=*/true);
  host[999] = 8;
  EXPECT_THROW(card.sum(), UsageError);
  card.copy_(host, /*non_blocking=*/true);
  synchronise(current_sim_stream(1));
  host.fill_(9);
  EXPECT_EQ(card.sum().item<float>(), 999 * 7 + 8);

  host.copy_(card, /*non_blocking=*/true);
  host[3] = 5;  // which of both would be there?
  EXPECT_THROW(synchronise(current_sim_stream(1)), UsageError);
}

TEST(SimCopyTest, CardsThatAreNotStrictCopyAtOnce) {
  const OtherSimMachine machine(2, {.strict = false});
  const at::Tensor host = pinned(7);
  at::Tensor card = at::zeros({1000}, on_sim(1));
  card.copy_(host, /*non_blocking=*/true);
  host.fill_(8);
  EXPECT_TRUE(all_are(card, 7));
}

TEST(SimCopyTest, TheLinkIsBusyWhileTheHostGoesOn) {
  using Clock = std::chrono::steady_clock;
  const OtherSimMachine machine(2, {.card = {.link_speed = 4e5}});  // 10 ms for 1000 floats
  const at::Tensor host = pinned(7);
  const auto begin = Clock::now();
  at::Tensor card = at::empty({1000}, on_sim(1));
  for (int i = 0; i < 3; ++i) card.copy_(host, /*non_blocking=*/true);
  const c10::Stream stream(c10::Stream::DEFAULT, card.device());
  c10::Event event(at::kPrivateUse1);
  event.record(stream);
  EXPECT_FALSE(event.query());
  card.sum();
  EXPECT_GE(Clock::now() - begin, std::chrono::milliseconds(30)) << "one after the other";
  EXPECT_TRUE(event.query());
}

TEST(SimCopyTest, BetweenCardsBothStreamsWait) {
  const c10::Stream side = c10::impl::getDeviceGuardImpl(at::kPrivateUse1)
                               ->getStreamFromGlobalPool(on_sim(0).device(), false);
  at::Tensor there;
  {
    const c10::StreamGuard guard(side);
    const at::Tensor here = at::full({10}, 4, on_sim(0));
    there = here.to(on_sim(1).device());
  }
  EXPECT_TRUE(all_are(there, 4)) << "ordered on sim:1";
}

}  // namespace sim_copy_test
}  // namespace pagoda
