#pragma once

#include <pagoda/events/graph_node.h>
#include <pagoda/events/rgb_image.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>

namespace pagoda {

class RecordFile;

/// When collected events are written to the file.
struct EventWriterOptions {
  /// Bytes of events that are collected before they are written.
  std::size_t buffer_bytes = 64 << 10;
  /// The first event after this time is written at once, with all collected before it; 0 writes
  /// every event at once.
  std::chrono::seconds flush_every{5};
};

/// Writes what TensorBoard shows of a run, to a new file
/// `events.out.tfevents.<seconds>.<host>.<process>` in a directory, which is created if it is
/// missing. docs/formats/events.md describes its bytes.
///
/// TensorBoard shows the files of one directory as one run, in the order of their names, and
/// expects that only the last one still grows. So a resumed run opens a new writer on its directory
/// (its file sorts last, whatever the clock says) and calls `restart`, and writers that are in use
/// at the same time, such as those for training and validation, need a directory each. Use a tag
/// for one kind of value only, with increasing steps. Text is UTF-8; invalid bytes become U+FFFD.
///
/// The file is only appended to. What was flushed survives the process, and a file that is
/// truncated at any byte is readable up to its last whole event.
///
/// Threads: any number at once; events of one thread stay in order.
/// Owns: the file, and a buffer of `buffer_bytes` plus one event.
/// Fails: IoError with the path and the system's reason, from any function. Buffered events are
/// kept, and written as soon as the file can be written again; while the buffer is full, new events
/// are lost. UsageError for an empty tag and as stated below; nothing is then written.
///
/// Example:
///     EventWriter events("runs/lenet5");
///     if (state.step > 0) events.restart(state.step + 1);
///     events.scalar("loss", step, loss);
class EventWriter {
 public:
  explicit EventWriter(const std::filesystem::path& directory, EventWriterOptions options = {});

  /// Flushes, but cannot report a failure; call `flush` first to find out.
  ~EventWriter();
  EventWriter(const EventWriter&) = delete;
  EventWriter& operator=(const EventWriter&) = delete;

  /// A point of a curve, stored as a 32-bit float. NaN and infinity are stored as such.
  void scalar(std::string_view tag, std::int64_t step, double value);

  /// The distribution of the values, in buckets that grow by 10 %. Values that are not finite are
  /// left out; if there are any, their count becomes the scalar `<tag>/non_finite` of this step.
  void histogram(std::string_view tag, std::int64_t step, std::span<const float> values);

  /// An image. Fails: as encode_png.
  void image(std::string_view tag, std::int64_t step, const RgbImage& image);

  /// A text, shown as Markdown.
  void text(std::string_view tag, std::int64_t step, std::string_view markdown);

  /// What the Graphs tab shows. A run has one graph: a later one replaces it.
  /// Fails: UsageError when a node has no name, or the same name as another.
  void graph(std::span<const GraphNode> nodes);

  /// Says that the run continues after an interruption, and that `first_step` is the first step it
  /// writes (again): TensorBoard then hides what earlier files say of this step and later ones.
  void restart(std::int64_t first_step);

  /// Passes all events so far to the operating system, but does not force them to the disk.
  void flush();

  /// The file being written.
  const std::filesystem::path& path() const;

 private:
  void append(std::string_view event);

  const EventWriterOptions options_;  // constant after construction

  // Guarded by mutex_, except the file's path, which is constant.
  std::mutex mutex_;
  std::unique_ptr<RecordFile> file_;
  std::chrono::steady_clock::time_point flushed_;
};

}  // namespace pagoda
