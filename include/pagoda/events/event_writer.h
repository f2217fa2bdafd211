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

/// When collected events go to the file.
struct EventWriterOptions {
  /// Bytes of events that are collected before they go to the file.
  std::size_t buffer_bytes = 64 << 10;
  /// After this time the next event takes the collected ones along; 0 writes each at once.
  std::chrono::seconds flush_every{5};
};

/// Writes what TensorBoard shows of a run, into a new file
/// `events.out.tfevents.<seconds>.<host>.<process>` of a directory that is created if it is
/// missing. The bytes are described in docs/formats/events.md.
///
/// TensorBoard shows the files of one directory as one run, in the order of their names, and
/// expects that only the last still grows: a resumed run opens a new writer on its directory (which
/// sorts last, whatever the clock says) and calls `restart`; what is written at the same time, such
/// as training and validation, goes to a directory each. A tag belongs to one kind of value. Steps
/// of a tag grow. Text is UTF-8; other bytes become U+FFFD.
///
/// The file only grows. What was flushed survives the process; a file that was cut, at any byte, is
/// readable up to its last whole event.
///
/// Threads: any, at once; events of one thread stay in order.
/// Owns: the file, and a buffer of `buffer_bytes` plus one event.
/// Fails: IoError with the path and the system's reason, from any function. Buffered events stay,
/// and go to the file as soon as it can be written again; while the buffer is full, new ones are
/// lost. UsageError for an empty tag and as stated below; nothing is then written.
///
/// Example:
///     EventWriter events("runs/lenet5");
///     if (state.step > 0) events.restart(state.step + 1);
///     events.scalar("loss", step, loss);
class EventWriter {
 public:
  explicit EventWriter(const std::filesystem::path& directory, EventWriterOptions options = {});

  /// Flushes; cannot say if that failed, `flush` can.
  ~EventWriter();
  EventWriter(const EventWriter&) = delete;
  EventWriter& operator=(const EventWriter&) = delete;

  /// A point of a curve, kept as a 32-bit float. Nan and infinity stay what they are.
  void scalar(std::string_view tag, std::int64_t step, double value);

  /// How the values are distributed, in buckets that grow by 10 %. Values that are not finite are
  /// left out; if there are any, their number becomes the scalar `<tag>/non_finite` of this step.
  void histogram(std::string_view tag, std::int64_t step, std::span<const float> values);

  /// A picture. UsageError when it is empty or its pixels are not 3 * width * height bytes.
  void image(std::string_view tag, std::int64_t step, const RgbImage& image);

  /// A text that is shown as Markdown.
  void text(std::string_view tag, std::int64_t step, std::string_view markdown);

  /// What the Graphs tab shows. Once for a run: a later one replaces it.
  /// UsageError when a node has no name or the name of another.
  void graph(std::span<const GraphNode> nodes);

  /// The run continues after an interruption, and `first_step` is the first step that it writes
  /// (again): what earlier files say of that step and later ones is hidden.
  void restart(std::int64_t first_step);

  /// Hands everything so far to the system. (It is not forced to the disk.)
  void flush();

  /// The file that it writes.
  const std::filesystem::path& path() const;

 private:
  void append(std::string_view event);

  const EventWriterOptions options_;  // constant after construction

  // Guarded by mutex_; the file's path is constant.
  std::mutex mutex_;
  std::unique_ptr<RecordFile> file_;
  std::chrono::steady_clock::time_point flushed_;
};

}  // namespace pagoda
