#include <pagoda/events/event_writer.h>

#include <cstring>
#include <vector>

#include "fuzz/fuzz_target.h"
#include "support/event_records.h"

namespace pagoda::fuzz {
namespace events_fuzz {

constexpr std::uint8_t kPixel[] = {1, 2, 3};

std::vector<float> floats_of(std::string_view bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return values;
}

/// Nothing reads event files but TensorBoard, so what is written is read back: a name in a
/// directory of events, a tag, a text and the values of a histogram.
std::string read(std::string_view bytes) {
  const auto parts = parts_of(bytes, 4);
  const auto directory = input_file("", "mark").parent_path() / "events";
  std::filesystem::remove_all(directory);
  std::filesystem::create_directories(directory);
  const std::string name = "events.out.tfevents." + std::string(parts[0]).substr(0, 100);
  const bool is_name = name.find_first_of(std::string_view("/\0", 2)) == std::string::npos;
  if (is_name) input_file("", "events/" + name);

  EventWriter events(directory);
  events.restart(3);
  const std::string tag(parts[1]);
  const GraphNode node{.name = tag,
                       .op = std::string(parts[2]),
                       .inputs = {tag},
                       .attributes = {{tag, tag}}};
  events.graph({&node, 1});
  events.text(tag, 1, parts[2]);
  events.image(tag, 1, {.width = 1, .height = 1, .pixels = kPixel});
  events.scalar(tag, 2, static_cast<double>(parts[3].size()));
  events.histogram(tag, 3, floats_of(parts[3]));
  events.flush();
  std::string text;
  for (const auto& record : testing::read_records(events.path())) {
    for (const auto& summary : testing::fields_at(
             protozero::pbf_reader(record), 5, [](auto& at) { return at.get_message(); })) {
      for (auto value : testing::fields_at(summary, 1, [](auto& at) { return at.get_message(); })) {
        for (const auto& tag : testing::texts_at(value, 1)) text += tag + "\n";
      }
    }
  }
  require(!text.empty(), "what was written is not read back");
  EventWriter resumed(directory);  // its file is another one, and comes after this one
  require(resumed.path() > events.path(), "the file of a run that goes on is not the last");
  return text;
}

const Registration registration{{"events", &read}};

}  // namespace events_fuzz
}  // namespace pagoda::fuzz
