#include <pagoda/base/error.h>
#include <pagoda/train/step_trace.h>
#include <pagoda/train/sync_step.h>

#include <cstdlib>
#include <memory>
#include <new>
#include <regex>
#include <string>
#include <sys/resource.h>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "support/scratch_directory.h"
#include "support/small_models.h"
#include "support/tower_fixtures.h"

namespace pagoda {
namespace step_trace_test {

using testing::read_file;

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

class StepTraceTest : public ::testing::Test {
 protected:
  /// Steps 1 to `steps`; true if a trace was written meanwhile.
  bool run(StepTrace& trace, int steps) {
    auto towers =
        make_towers(testing::cpu_devices(2), [] { return testing::Noisy(); }, {.seed = 1});
    SyncStep step(towers, Sgd{.learning_rate = 0.1});
    bool wrote = false;
    for (int number = 1; number <= steps; ++number) {
      trace.before(number);
      step.run(testing::feeds_of(testing::vector_feed, {4, 3}, 0), testing::MeanSquare{});
      wrote = trace.after(number) || wrote;
    }
    return wrote;
  }

  testing::ScratchDirectory scratch;
};

TEST_F(StepTraceTest, HoldsTheChosenStepsWithARowForEachTower) {
  StepTrace trace(scratch / "trace.json", 2, 4);
  EXPECT_TRUE(run(trace, 6));
  EXPECT_EQ(scratch.names(), std::vector<std::string>{"trace.json"});
  const std::string text = read_file(scratch / "trace.json");
  EXPECT_NE(text.find("\"name\": \"tower 0\""), std::string::npos);
  EXPECT_NE(text.find("\"name\": \"tower 1\""), std::string::npos);
  EXPECT_EQ(text.find("(tower"), std::string::npos);
  EXPECT_EQ(count_of(text, "\"name\": \"update\""), 2U * 3U) << "two towers, three steps";
  EXPECT_GT(count_of(text, "aten::"), 0U);
}

TEST_F(StepTraceTest, WhatLibTorchCouldNotWriteIsNoTraceAndLeavesNothing) {
  StepTrace trace(scratch / "trace.json", 1, 1);
  {
    const testing::FullDisk full(1000);
    EXPECT_THROW(run(trace, 1), IoError);
  }
  EXPECT_EQ(scratch.names(), std::vector<std::string>{});
}

/// What happened in one row of a trace.
struct TraceBlock {
  std::string row;
  double begin;
  double end;
};

std::vector<TraceBlock> blocks_of(const std::string& trace, const std::string& name) {
  static const std::regex event(
      "\"name\": \"([a-z]+)\",\\s*\"pid\": [0-9]+,\\s*\"tid\": ([0-9]+),\\s*\"ts\": ([0-9.]+),\\s*"
      "\"dur\": ([0-9.]+)");
  std::vector<TraceBlock> blocks;
  for (std::sregex_iterator found(trace.begin(), trace.end(), event), end; found != end; ++found) {
    const std::smatch& part = *found;
    if (part[1] != name) continue;
    const double begin = std::stod(part[3]);
    blocks.push_back({part[2], begin, begin + std::stod(part[4])});
  }
  return blocks;
}

TEST_F(StepTraceTest, ForwardAndBackwardAreBlocksBesideEachOther) {
  StepTrace trace(scratch / "trace.json", 1, 2);
  EXPECT_TRUE(run(trace, 2));
  const std::string text = read_file(scratch / "trace.json");
  const auto forward = blocks_of(text, "forward");
  const auto backward = blocks_of(text, "backward");
  EXPECT_EQ(forward.size(), 2U * 2U) << "two towers with a feed each, two steps";
  EXPECT_EQ(backward.size(), forward.size());
  for (const TraceBlock& one : forward) {
    for (const TraceBlock& other : backward) {
      if (one.row == other.row) {
        EXPECT_TRUE(other.begin >= one.end || other.end <= one.begin);
      }
    }
  }
}

TEST_F(StepTraceTest, HasNoProcessesOfCardsThatAreNotThere) {
  StepTrace trace(scratch / "trace.json", 1, 1);
  EXPECT_TRUE(run(trace, 1));
  const std::string text = read_file(scratch / "trace.json");
  EXPECT_EQ(count_of(text, "\"GPU "), 0U);
  EXPECT_EQ(count_of(text, "\"labels\": \"CPU\""), 1U);
  EXPECT_EQ(count_of(text, "{"), count_of(text, "}"));
}

TEST_F(StepTraceTest, WritesNothingWhenTheRunEndsBefore) {
  {
    StepTrace trace(scratch / "trace.json", 2, 4);
    EXPECT_FALSE(run(trace, 3));
  }
  EXPECT_TRUE(scratch.names().empty());
  StepTrace next(scratch / "trace.json", 1, 1);
  EXPECT_TRUE(run(next, 1)) << "the one before has ended its recording";
}

/// While it lives, the process gets no more memory from the system, and has no large blocks left.
class NoMoreMemory {
 public:
  NoMoreMemory() {
    getrlimit(RLIMIT_AS, &before_);
    const rlimit none{.rlim_cur = 0, .rlim_max = before_.rlim_max};
    setrlimit(RLIMIT_AS, &none);
    for (std::size_t bytes = 1 << 24; bytes >= 1 << 12; bytes /= 2) {
      while (void* block = std::malloc(bytes)) taken_ = new (block) Block{taken_};
    }
  }
  ~NoMoreMemory() {
    while (taken_ != nullptr) std::free(std::exchange(taken_, taken_->next));
    setrlimit(RLIMIT_AS, &before_);
  }
  NoMoreMemory(const NoMoreMemory&) = delete;
  NoMoreMemory& operator=(const NoMoreMemory&) = delete;

 private:
  struct Block {
    Block* next;
  };
  rlimit before_{};
  Block* taken_ = nullptr;
};

TEST_F(StepTraceTest, MayBeDestroyedWhereNoMemoryIsLeftToEndTheRecording) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "memory cannot be refused under a sanitizer";
#endif
  auto trace = std::make_unique<StepTrace>(scratch / "trace.json", 1, 2);
  trace->before(1);
  const at::Tensor one = at::ones(1);
  for (int i = 0; i < 1000; ++i) one.add(one);  // events that need large blocks
  const NoMoreMemory refused;
  trace.reset();
}

TEST_F(StepTraceTest, RefusesStepsAndFilesThatCannotBe) {
  EXPECT_THROW(StepTrace(scratch / "trace.json", 0, 4), UsageError);
  EXPECT_THROW(StepTrace(scratch / "trace.json", 4, 3), UsageError);
  EXPECT_THROW(StepTrace(scratch / "missing" / "trace.json", 1, 1), IoError);
  EXPECT_THROW(StepTrace(scratch.path(), 1, 1), IoError);
}

}  // namespace step_trace_test
}  // namespace pagoda
