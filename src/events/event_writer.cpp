#include <pagoda/base/error.h>
#include <pagoda/events/event_writer.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <string>
#include <system_error>
#include <unistd.h>

#include "events/event_proto.h"
#include "events/histogram.h"
#include <pagoda/events/png.h>
#include "events/record_file.h"

namespace pagoda {
namespace {

constexpr std::string_view kNameStart = "events.out.tfevents.";

double wall_time() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string host_name() {
  char name[256] = {};
  if (gethostname(name, sizeof(name) - 1) != 0 || name[0] == '\0') return "localhost";
  return name;
}

/// The seconds in the name of an event file; 0 for other files.
std::int64_t seconds_in_name(const std::string& name) {
  std::int64_t seconds = 0;
  if (!name.starts_with(kNameStart)) return 0;
  const char* digits = name.data() + kNameStart.size();
  const auto [end, error] = std::from_chars(digits, name.data() + name.size(), seconds);
  // Only names of our own width sort as their numbers do, and the next one must have it, too.
  constexpr std::int64_t kMost = 9'999'999'998;
  return error == std::errc() && end - digits == 10 && seconds <= kMost ? seconds : 0;
}

/// The highest seconds in the names of the event files that are there already; 0 if there are none.
std::int64_t last_seconds(const std::filesystem::path& directory) {
  std::int64_t last = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    last = std::max(last, seconds_in_name(entry.path().filename().string()));
  }
  return last;
}

std::filesystem::path event_file(const std::filesystem::path& directory, std::int64_t seconds) {
  const std::string digits = std::to_string(seconds);
  const std::string padding(10 - std::min<std::size_t>(10, digits.size()), '0');
  return directory / (std::string(kNameStart) + padding + digits + "." + host_name() + "." +
                      std::to_string(getpid()));
}

EventStamp stamp_of(std::int64_t step) { return {.wall_time = wall_time(), .step = step}; }

void check_tag(std::string_view tag) {
  if (tag.empty()) throw UsageError("an event has no tag; TensorBoard shows it under that name");
}

void check_names(std::span<const GraphNode> nodes) {
  std::set<std::string_view> names;
  for (const GraphNode& node : nodes) {
    if (node.name.empty()) throw UsageError("a node (" + node.op + ") of the graph has no name");
    if (!names.insert(node.name).second) {
      throw UsageError("two nodes of the graph are called " + node.name + "; names must differ");
    }
  }
}

}  // namespace

EventWriter::EventWriter(const std::filesystem::path& directory, EventWriterOptions options)
    : options_(options), flushed_(std::chrono::steady_clock::now()) {
  std::int64_t last = 0;
  try {
    std::filesystem::create_directories(directory);
    last = last_seconds(directory);
  } catch (const std::filesystem::filesystem_error& error) {
    throw IoError("cannot write events into " + directory.string() + ": " + error.code().message());
  }
  // Readers go by the names: later than all others, also within a second or with a clock set back.
  const std::int64_t seconds = std::max(static_cast<std::int64_t>(wall_time()), last + 1);
  file_ = std::make_unique<RecordFile>(event_file(directory, seconds), options.buffer_bytes);
  file_->append(encode_file_version(wall_time()));
  // TensorBoard takes the first start in a run for its beginning, and only later ones for restarts.
  if (last == 0) file_->append(encode_session_start(stamp_of(0)));
  file_->flush();
}

EventWriter::~EventWriter() = default;

void EventWriter::append(std::string_view event) {
  std::lock_guard lock(mutex_);
  file_->append(event);
  const auto now = std::chrono::steady_clock::now();
  if (now - flushed_ < options_.flush_every) return;
  file_->flush();
  flushed_ = now;
}

void EventWriter::flush() {
  std::lock_guard lock(mutex_);
  file_->flush();
  flushed_ = std::chrono::steady_clock::now();
}

void EventWriter::scalar(std::string_view tag, std::int64_t step, double value) {
  check_tag(tag);
  append(encode_scalar(stamp_of(step), tag, static_cast<float>(value)));
}

void EventWriter::histogram(std::string_view tag, std::int64_t step,
                            std::span<const float> values) {
  check_tag(tag);
  append(encode_histogram(stamp_of(step), tag, make_histogram(values)));
}

void EventWriter::image(std::string_view tag, std::int64_t step, const RgbImage& image) {
  check_tag(tag);
  const std::string png = encode_png(image);
  append(encode_image(stamp_of(step), tag,
                      {.width = image.width, .height = image.height, .png = png}));
}

void EventWriter::text(std::string_view tag, std::int64_t step, std::string_view markdown) {
  check_tag(tag);
  append(encode_text(stamp_of(step), tag, markdown));
}

void EventWriter::graph(std::span<const GraphNode> nodes) {
  check_names(nodes);
  append(encode_graph(wall_time(), nodes));
}

void EventWriter::restart(std::int64_t first_step) {
  append(encode_session_start(stamp_of(first_step)));
}

const std::filesystem::path& EventWriter::path() const { return file_->path(); }

}  // namespace pagoda
