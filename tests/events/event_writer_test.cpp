#include <pagoda/base/error.h>
#include <pagoda/events/event_writer.h>

#include <chrono>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "support/event_records.h"
#include "support/scratch_directory.h"

namespace pagoda {
namespace event_writer_test {

using protozero::pbf_reader;
using testing::FullDisk;
using testing::integers_at;
using testing::message_at;
using testing::read_file;
using testing::read_records;
using testing::ScratchDirectory;
using testing::texts_at;
using testing::write_file;

constexpr EventWriterOptions kPatient{.flush_every = std::chrono::hours(1)};
constexpr std::size_t kOpening = 2;  // events of a new run: file version, session start

template <class Expected>
std::string failure_of(const auto& action) {
  try {
    action();
  } catch (const Expected& error) {
    return error.what();
  }
  return "";
}

std::int64_t step_of(const std::string& event) { return integers_at(pbf_reader(event), 2).at(0); }

std::string tag_of(const std::string& event) {
  return texts_at(message_at(message_at(pbf_reader(event), 5), 1), 1).at(0);
}

/// Steps of the session starts in a file.
std::vector<std::int64_t> starts_in(const std::filesystem::path& path) {
  std::vector<std::int64_t> steps;
  for (const std::string& event : read_records(path)) {
    if (texts_at(pbf_reader(event), 7).size() == 1) steps.push_back(step_of(event));
  }
  return steps;
}

TEST(EventWriterTest, OpensAFileThatTensorBoardRecognises) {
  const ScratchDirectory scratch;
  const auto before = std::chrono::system_clock::now();
  const EventWriter events(scratch / "run" / "train");
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(before.time_since_epoch()).count();
  const std::string name = events.path().filename();
  EXPECT_EQ(events.path().parent_path(), scratch / "run" / "train");
  EXPECT_TRUE(name.starts_with("events.out.tfevents.")) << name;
  EXPECT_TRUE(name.ends_with("." + std::to_string(getpid()))) << name;
  EXPECT_GE(std::stoll(name.substr(20, 10)), seconds);
  EXPECT_EQ(name[30], '.');

  const auto records = read_records(events.path());  // without a flush
  ASSERT_EQ(records.size(), kOpening);
  EXPECT_EQ(texts_at(pbf_reader(records[0]), 3), std::vector<std::string>{"brain.Event:2"});
  EXPECT_EQ(starts_in(events.path()), std::vector<std::int64_t>{0});
}

TEST(EventWriterTest, WritesEveryKindInOrder) {
  const ScratchDirectory scratch;
  const std::vector<float> values{1, 2, 3};
  const std::vector<std::uint8_t> pixels(12);
  const std::vector<GraphNode> nodes{{.name = "input", .op = "Input"}};
  EventWriter events(scratch.path());
  events.scalar("scalar", 1, 0.5);
  events.histogram("histogram", 2, values);
  events.image("image", 3, {.width = 2, .height = 2, .pixels = pixels});
  events.text("text", 4, "*words*");
  events.graph(nodes);
  events.flush();
  const auto records = read_records(events.path());
  ASSERT_EQ(records.size(), kOpening + 5);
  const char* tags[] = {"scalar", "histogram", "image", "text"};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(tag_of(records[kOpening + i]), tags[i]);
    EXPECT_EQ(step_of(records[kOpening + i]), static_cast<std::int64_t>(i + 1));
  }
  EXPECT_EQ(texts_at(pbf_reader(records.back()), 4).size(), 1u);
}

TEST(EventWriterTest, FlushesWhenAskedAndAtTheEnd) {
  const ScratchDirectory scratch;
  std::filesystem::path path;
  {
    EventWriter events(scratch.path(), kPatient);
    path = events.path();
    events.scalar("loss", 1, 1);
    EXPECT_EQ(read_records(path).size(), kOpening);
    events.flush();
    EXPECT_EQ(read_records(path).size(), kOpening + 1);
    events.scalar("loss", 2, 1);
  }
  EXPECT_EQ(read_records(path).size(), kOpening + 2);
}

TEST(EventWriterTest, FlushesWhenTheTimeHasCome) {
  const ScratchDirectory scratch;
  EventWriter events(scratch.path(), {.flush_every = std::chrono::seconds(0)});
  for (std::size_t step = 1; step <= 3; ++step) {
    events.scalar("loss", static_cast<std::int64_t>(step), 1);
    EXPECT_EQ(read_records(events.path()).size(), kOpening + step);
  }
}

TEST(EventWriterTest, AResumedRunHidesTheStepsThatItRepeats) {
  const ScratchDirectory scratch;
  const EventWriter first(scratch.path());
  EventWriter second(scratch.path());
  second.restart(501);
  second.flush();
  EXPECT_EQ(starts_in(first.path()), std::vector<std::int64_t>{0});
  EXPECT_EQ(starts_in(second.path()), std::vector<std::int64_t>{501});
}

// Readers go by the names: several starts in a second, or a clock that was set back, must not mix
// them up.
TEST(EventWriterTest, ALaterFileSortsLater) {
  const ScratchDirectory scratch;
  write_file(scratch / "events.out.tfevents.4000000000.elsewhere.9", "");
  write_file(scratch / "events.out.tfevents.99999999999999999999.odd", "");
  write_file(scratch / "events.out.tfevents.9999999999.odd", "");  // none comes after it
  write_file(scratch / "train.log", "");
  std::string last = "events.out.tfevents.4000000000.elsewhere.9";
  for (int i = 1; i <= 3; ++i) {
    const EventWriter events(scratch.path());
    EXPECT_GT(events.path().filename(), last);
    EXPECT_TRUE(starts_in(events.path()).empty());
    last = events.path().filename();
  }
}

TEST(EventWriterTest, ThreadsShareAWriter) {
  constexpr std::size_t kThreads = 8;
  constexpr std::size_t kSteps = 211;
  const ScratchDirectory scratch;
  EventWriter events(scratch.path(), {.buffer_bytes = 1000});
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (std::size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&events, t] {
      for (int step = 0; step < static_cast<int>(kSteps); ++step)
        events.scalar("loss_" + std::to_string(t), step, step);
    });
  }
  for (auto& thread : threads) thread.join();
  events.flush();
  std::map<std::string, std::int64_t> next;
  const auto records = read_records(events.path());
  ASSERT_EQ(records.size(), kOpening + kThreads * kSteps);
  for (std::size_t i = kOpening; i < records.size(); ++i) {
    EXPECT_EQ(step_of(records[i]), next[tag_of(records[i])]++);
  }
  EXPECT_EQ(next.size(), kThreads);
}

TEST(EventWriterTest, AFullDiskIsAnIoErrorAndTheFileStaysReadable) {
  const ScratchDirectory scratch;
  EventWriter events(scratch.path(), kPatient);
  const auto opening = read_file(events.path()).size();
  std::string message;
  {
    const FullDisk full(opening + 10);
    events.scalar("loss", 1, 1);
    message = failure_of<IoError>([&] { events.flush(); });
  }
  EXPECT_EQ(message, "cannot write " + events.path().string() + ": File too large");
  events.scalar("loss", 2, 1);
  events.flush();
  EXPECT_EQ(read_records(events.path()).size(), kOpening + 2);
}

TEST(EventWriterTest, ADirectoryThatCannotBeUsedIsAnIoErrorWithItsPath) {
  const ScratchDirectory scratch;
  write_file(scratch / "file", "old");
  for (const auto& directory : {scratch / "file", scratch / "file" / "below"}) {
    const std::string message = failure_of<IoError>([&] { EventWriter events(directory); });
    EXPECT_EQ(message, "cannot write events into " + directory.string() + ": Not a directory");
  }
  const FullDisk full(0);
  const std::string message = failure_of<IoError>([&] { EventWriter events(scratch / "run"); });
  EXPECT_NE(message.find((scratch / "run").string()), std::string::npos) << message;
}

TEST(EventWriterTest, RefusesWhatTensorBoardCannotName) {
  const ScratchDirectory scratch;
  EventWriter events(scratch.path());
  const std::vector<GraphNode> nameless{{.name = "", .op = "Conv2d"}};
  const std::vector<GraphNode> twins{{.name = "conv", .op = "Conv2d"},
                                     {.name = "conv", .op = "ReLU"}};
  EXPECT_THROW(events.scalar("", 1, 1), UsageError);
  EXPECT_THROW(events.histogram("", 1, {}), UsageError);
  EXPECT_THROW(events.text("", 1, "text"), UsageError);
  EXPECT_THROW(events.image("image", 1, {.width = 1, .height = 1, .pixels = {}}), UsageError);
  EXPECT_THROW(events.graph(nameless), UsageError);
  EXPECT_NE(failure_of<UsageError>([&] { events.graph(twins); }).find("called conv"),
            std::string::npos);
  events.flush();
  EXPECT_EQ(read_records(events.path()).size(), kOpening);
}

}  // namespace event_writer_test
}  // namespace pagoda
