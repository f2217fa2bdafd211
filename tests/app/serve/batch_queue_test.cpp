#include "serve/batch_queue.h"

#include <atomic>
#include <latch>
#include <new>
#include <stdexcept>

#include <gtest/gtest.h>

namespace pagoda::app {
namespace batch_queue_test {

using Lines = std::vector<std::string>;
using Queue = BatchQueue<int, std::string>;

constexpr std::chrono::milliseconds kLong = std::chrono::hours(1);

/// Work that gives each line with the options, and notes what was worked on together. It waits for
/// `go` in each call until that is open.
struct NotedWork {
  std::mutex mutex;
  std::vector<Lines> batches;
  std::latch started{1};
  std::promise<void> go;
  std::shared_future<void> gone{go.get_future()};

  Queue::Work function() {
    return [this](const Lines& lines, int option) {
      {
        const std::lock_guard lock(mutex);
        batches.push_back(lines);
        if (batches.size() == 1) started.count_down();
      }
      gone.wait();
      Lines results;
      for (const auto& line : lines) {
        if (line == "bad") throw std::runtime_error("a bad line");
        results.push_back(line + "/" + std::to_string(option));
      }
      return results;
    };
  }
};

std::future<Lines> ask(Queue& queue, Lines lines, int option) {
  return std::async(std::launch::async, [&queue, lines = std::move(lines), option] {
    return queue.run(lines, option);
  });
}

/// So many lines wait.
void wait_for_size(const Queue& queue, std::size_t size) {
  while (queue.size() != size) std::this_thread::yield();
}

TEST(BatchQueueTest, GivesEachCallerTheResultsOfItsOwnLines) {
  NotedWork work;
  work.go.set_value();
  Queue queue(work.function(), {.max_wait = std::chrono::milliseconds(0)});
  std::vector<std::future<Lines>> answers;
  for (int i = 0; i < 50; ++i) {
    const std::string name = std::to_string(i);
    answers.push_back(ask(queue, Lines(static_cast<std::size_t>(i % 4), name), i % 3));
  }
  for (int i = 0; i < 50; ++i) {
    const std::string expected = std::to_string(i) + "/" + std::to_string(i % 3);
    EXPECT_EQ(answers[static_cast<std::size_t>(i)].get(),
              Lines(static_cast<std::size_t>(i % 4), expected));
  }
  EXPECT_EQ(queue.size(), 0u);
}

TEST(BatchQueueTest, BringsTogetherWhatWaitsWithTheSameOptions) {
  NotedWork work;
  Queue queue(work.function(), {.max_wait = std::chrono::milliseconds(0), .max_batch = 3});
  auto first = ask(queue, {"first"}, 1);
  work.started.wait();
  std::vector<std::future<Lines>> others;
  const auto add = [&](Lines lines, int option, std::size_t waiting) {
    others.push_back(ask(queue, std::move(lines), option));
    wait_for_size(queue, waiting);
  };
  add({"a", "b"}, 1, 2);
  add({"c"}, 2, 3);
  add({"d", "e"}, 1, 5);  // with a and b it would be one too many
  add({"f"}, 1, 6);
  work.go.set_value();
  for (auto& other : others) other.get();
  EXPECT_EQ(work.batches, (std::vector<Lines>{{"first"}, {"a", "b", "f"}, {"c"}, {"d", "e"}}));
}

TEST(BatchQueueTest, ARequestWaitsForOthersUntilTheBatchIsFull) {
  NotedWork work;
  work.go.set_value();
  Queue queue(work.function(), {.max_wait = kLong, .max_batch = 3});
  auto one = ask(queue, {"a"}, 0);
  wait_for_size(queue, 1);
  auto two = ask(queue, {"b", "c"}, 0);
  one.get();
  two.get();
  EXPECT_EQ(work.batches, (std::vector<Lines>{{"a", "b", "c"}}));
}

TEST(BatchQueueTest, ARequestThatIsLargerThanABatchIsWorkedOnAlone) {
  NotedWork work;
  work.go.set_value();
  Queue queue(work.function(), {.max_wait = kLong, .max_batch = 2});
  EXPECT_EQ(queue.run({"a", "b", "c"}, 7), (Lines{"a/7", "b/7", "c/7"}));
}

TEST(BatchQueueTest, RefusesWhatIsTooMuchAndGoesOn) {
  NotedWork work;
  Queue queue(work.function(), {.max_wait = std::chrono::milliseconds(0), .max_lines = 3});
  auto first = ask(queue, {"first"}, 0);
  work.started.wait();
  auto second = ask(queue, {"a", "b"}, 0);
  wait_for_size(queue, 2);
  try {
    queue.run({"c", "d"}, 0);
    FAIL() << "taken";
  } catch (const QueueFullError& error) {
    EXPECT_STREQ(error.what(), "2 sentences wait already, of at most 3");
  }
  auto third = ask(queue, {"c"}, 0);
  wait_for_size(queue, 3);
  work.go.set_value();
  EXPECT_EQ(second.get(), (Lines{"a/0", "b/0"}));
  EXPECT_EQ(third.get(), Lines{"c/0"});
}

/// A result that refuses to be moved once, where `refused_move` says so.
struct Fragile {
  explicit Fragile(std::string line) : text(std::move(line)) {}
  Fragile(Fragile&& other) : text(std::move(other.text)) {
    if (refused_move > 0 && --refused_move == 0) throw std::bad_alloc();
  }
  std::string text;
  static inline std::atomic<int> refused_move = 0;
};

TEST(BatchQueueTest, MemoryThatRunsOutBetweenWorkAndAnswerEndsNothing) {
  std::promise<void> go;
  std::latch started(1);
  BatchQueue<int, Fragile> queue(
      [&, gone = go.get_future().share()](const Lines& lines, int) {
        if (lines == Lines{"first"}) started.count_down();
        gone.wait();
        std::vector<Fragile> results;
        results.reserve(lines.size());
        for (const auto& line : lines) results.emplace_back(line);
        if (lines.size() > 1) Fragile::refused_move = 2;
        return results;
      },
      {.max_wait = std::chrono::milliseconds(0)});
  const auto asked = [&](const std::string& line) {
    return std::async(std::launch::async, [&queue, line] { return queue.run({line}, 0)[0].text; });
  };
  auto first = asked("first");
  started.wait();
  auto second = asked("second");
  while (queue.size() != 1) std::this_thread::yield();
  auto third = asked("third");
  while (queue.size() != 2) std::this_thread::yield();
  go.set_value();
  EXPECT_EQ(first.get() + second.get() + third.get(), "firstsecondthird");
  EXPECT_EQ(Fragile::refused_move, 0) << "nothing was refused";
}

TEST(BatchQueueTest, OnlyTheCallerOfBadLinesFails) {
  NotedWork work;
  Queue queue(work.function(), {.max_wait = std::chrono::milliseconds(0)});
  auto first = ask(queue, {"bad"}, 0);
  work.started.wait();
  auto second = ask(queue, {"a"}, 0);
  wait_for_size(queue, 1);
  auto third = ask(queue, {"b", "bad"}, 0);
  wait_for_size(queue, 3);
  work.go.set_value();
  EXPECT_THROW(first.get(), std::runtime_error);
  EXPECT_EQ(second.get(), Lines{"a/0"});
  EXPECT_THROW(third.get(), std::runtime_error);
  EXPECT_EQ(queue.run({"c"}, 0), Lines{"c/0"});
}

TEST(BatchQueueTest, StoppingAnswersWhatWaitsAndTakesNothingMore) {
  NotedWork work;
  Queue queue(work.function(), {.max_wait = kLong});
  auto first = ask(queue, {"a"}, 1);
  wait_for_size(queue, 1);
  auto second = ask(queue, {"b"}, 2);
  wait_for_size(queue, 2);
  work.go.set_value();
  queue.stop();
  EXPECT_EQ(first.get(), Lines{"a/1"});
  EXPECT_EQ(second.get(), Lines{"b/2"});
  EXPECT_THROW(queue.run({"c"}, 1), QueueStoppedError);
  queue.stop();
}

}  // namespace batch_queue_test
}  // namespace pagoda::app
