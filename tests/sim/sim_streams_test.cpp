#include "sim/sim_streams.h"

#include <pagoda/base/error.h>

#include <optional>
#include <string>
#include <thread>

#include <ATen/ATen.h>
#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <gtest/gtest.h>

#include "support/sim_machine.h"

namespace pagoda {
namespace sim_streams_test {

using testing::on_sim;

c10::Stream default_stream(int card) {
  return c10::Stream(c10::Stream::DEFAULT, on_sim(card).device());
}

c10::Stream side_stream(int card) {
  return c10::impl::getDeviceGuardImpl(at::kPrivateUse1)
      ->getStreamFromGlobalPool(on_sim(card).device(), false);
}

/// What `to` does from here on comes after what `from` was given.
void let_wait(const c10::Stream& to, const c10::Stream& from) {
  c10::Event event(at::kPrivateUse1);
  event.record(from);
  event.block(to);
}

TEST(SimStreamsTest, TheCurrentStreamIsTheThreadsOwn) {
  const c10::Stream side = side_stream(2);
  EXPECT_NE(side.id(), 0);
  const c10::StreamGuard guard(side);
  EXPECT_EQ(current_sim_stream(2).number, side.id());
  EXPECT_EQ(current_sim_stream(1).number, 0);
  int elsewhere = -1;
  std::thread([&] { elsewhere = current_sim_stream(2).number; }).join();
  EXPECT_EQ(elsewhere, 0);
}

TEST(SimStreamsTest, ReadingWhatAnotherStreamHasNotFinishedIsAnError) {
  const c10::Stream side = side_stream(1);
  const at::Tensor tensor = at::ones({5}, on_sim(1));
  {
    const c10::StreamGuard guard(side);
    EXPECT_THROW(tensor.sum(), UsageError);
    let_wait(side, default_stream(1));
    EXPECT_EQ(tensor.sum().item<float>(), 5);
  }
  tensor.record_stream(side);
}

TEST(SimStreamsTest, WritingWhatAnotherStreamReadsIsAnError) {
  const c10::Stream side = side_stream(1);
  const at::Tensor tensor = at::ones({5}, on_sim(1));
  let_wait(side, default_stream(1));
  at::Tensor doubled;
  {
    const c10::StreamGuard guard(side);
    doubled = tensor * 2;
  }
  EXPECT_EQ((tensor + 1).sum().item<float>(), 10) << "reading at once is fine";
  EXPECT_THROW(tensor.fill_(3), UsageError);
  EXPECT_THROW(doubled.sum(), UsageError);
  let_wait(default_stream(1), side);
  tensor.fill_(3);
  EXPECT_EQ(doubled.sum().item<float>(), 10);
}

TEST(SimStreamsTest, AHostThatHasWaitedOrdersEverything) {
  const c10::Stream side = side_stream(1);
  at::Tensor made;
  {
    const c10::StreamGuard guard(side);
    made = at::ones({5}, on_sim(1));
  }
  EXPECT_THROW(made.sum(), UsageError);
  side.synchronize();
  EXPECT_EQ(made.sum().item<float>(), 5);
}

TEST(SimStreamsTest, WaitingReachesThroughOtherStreams) {
  const c10::Stream first = side_stream(1);
  const c10::Stream second = side_stream(1);
  const at::Tensor host = at::full({5}, 6).pin_memory();
  at::Tensor card;
  {
    const c10::StreamGuard guard(first);
    card = host.to(on_sim(1).device(), /*non_blocking=*/true);
  }
  let_wait(second, first);
  let_wait(default_stream(1), second);
  EXPECT_EQ(card.sum().item<float>(), 30) << "a late copy two streams away";
  card.record_stream(default_stream(1));
}

TEST(SimStreamsTest, StreamsMayWaitForWhatEachOtherWasGivenBefore) {
  std::string done;
  const auto put = [&](const SimStream& stream, char name) {
    const SimStream before = exchange_sim_stream(stream);
    SimOperation("a late letter", stream.card).begin_late(SimTime(), [&done, name] {
      done += name;
    });
    exchange_sim_stream(before);
    return record_sim_event(stream);
  };
  const SimStream first = next_sim_stream(1);
  const SimStream second = next_sim_stream(2);
  const SimEvent of_first = put(first, 'a');
  const SimEvent of_second = put(second, 'b');
  block_sim_stream(first, of_second);
  block_sim_stream(second, of_first);
  synchronise(of_first);
  EXPECT_EQ(done, "a") << "the event was recorded before its stream began to wait";
  synchronise(second);
  EXPECT_EQ(done, "ab");
  EXPECT_TRUE(is_done(first));
}

TEST(SimStreamsTest, MemoryFreedUnderAnotherStreamFailsTheNextOperation) {
  const c10::Stream side = side_stream(1);
  const auto use_and_free = [&](bool record) {
    const at::Tensor tensor = at::ones({5}, on_sim(1));
    let_wait(side, default_stream(1));
    const c10::StreamGuard guard(side);
    const at::Tensor result = tensor * 2;
    if (record) tensor.record_stream(side);
  };
  use_and_free(true);
  at::ones({2}, on_sim(1)).sum();
  use_and_free(false);
  EXPECT_THROW(at::ones({2}, on_sim(1)), UsageError);
  EXPECT_EQ(at::ones({2}, on_sim(1)).sum().item<float>(), 2) << "once";
}

TEST(SimStreamsTest, AnEventOfAnotherCardIsRefused) {
  c10::Event event(at::kPrivateUse1);
  event.record(default_stream(1));
  EXPECT_THROW(event.record(default_stream(2)), UsageError);
  event.block(default_stream(2));  // but every card may wait for it
}

TEST(SimStreamsTest, SynchronisingACardWaitsForAllItsStreams) {
  const at::Tensor host = at::zeros({5}).pin_memory();
  const at::Tensor card = at::ones({5}, on_sim(1));
  const c10::Stream side = side_stream(1);
  let_wait(side, default_stream(1));
  {
    const c10::StreamGuard guard(side);
    host.copy_(card, /*non_blocking=*/true);
  }
  EXPECT_EQ(host.sum().item<float>(), 0);
  c10::impl::getDeviceGuardImpl(at::kPrivateUse1)->synchronizeDevice(1);
  EXPECT_EQ(host.sum().item<float>(), 5);
}

TEST(SimStreamsTest, BackwardRunsOnTheStreamsOfItsForward) {
  const c10::Stream side = side_stream(1);
  at::Tensor leaf = at::full({5}, 2.0, on_sim(1)).requires_grad_();
  let_wait(side, default_stream(1));
  at::Tensor loss;
  {
    const c10::StreamGuard guard(side);
    loss = (leaf * leaf).sum();
    loss.backward();
  }
  let_wait(default_stream(1), side);
  EXPECT_EQ(leaf.grad().sum().item<float>(), 20);
  side.synchronize();
}

}  // namespace sim_streams_test
}  // namespace pagoda
