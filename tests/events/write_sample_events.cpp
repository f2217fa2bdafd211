// Writes one of everything for tensorboard_reads_test.py, which knows the same formulas.
//     write_sample_events DIRECTORY

#include <pagoda/events/event_writer.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <limits>
#include <vector>

namespace {

std::vector<float> sample_values(int step) {
  std::vector<float> values(1000);
  for (int i = 0; i < 1000; ++i) values[i] = static_cast<float>((i - 400) * step) / 1024;
  return values;
}

std::vector<std::uint8_t> sample_pixels(int width, int height) {
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(3 * width * height));
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::uint8_t>(i * 7);
  return pixels;
}

void write_steps(pagoda::EventWriter& events, int from, int to, double scale) {
  for (int step = from; step <= to; ++step) {
    events.scalar("loss", step, scale / step);
    events.scalar("tower/loss_0", step, -scale * step);
    events.histogram("parameters/conv1.weight", step, sample_values(step));
  }
}

/// A run that is interrupted after step 8.
void write_first_run(const std::filesystem::path& directory) {
  pagoda::EventWriter events(directory);
  const std::vector<pagoda::GraphNode> nodes{
      {.name = "images", .op = "Input"},
      {.name = "features/conv1",
       .op = "Conv2d",
       .inputs = {"images"},
       .attributes = {{"kernel_size", "5x5"}}},
      {.name = "features/relu1", .op = "ReLU", .inputs = {"features/conv1"}},
      {.name = "classifier/linear", .op = "Linear", .inputs = {"features/relu1"}}};
  events.graph(nodes);
  events.text("configuration", 0, "| flag | value |\n|---|---|\n| größe | 64 |\n");
  const auto pixels = sample_pixels(17, 11);
  events.image("batch/0", 1, {.width = 17, .height = 11, .pixels = pixels});
  const float infinity = std::numeric_limits<float>::infinity();
  events.histogram("odd", 1, std::vector<float>{1, NAN, infinity, 2, -infinity});
  events.histogram("nothing", 1, {});
  events.scalar("nan", 1, NAN);
  events.scalar("bad\xE4", 1, 1);
  write_steps(events, 1, 8, 1);
}

/// The same run, continued from a checkpoint at step 5.
void write_second_run(const std::filesystem::path& directory) {
  pagoda::EventWriter events(directory);
  events.restart(6);
  write_steps(events, 6, 10, 2);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: write_sample_events DIRECTORY\n", stderr);
    return 2;
  }
  try {
    write_first_run(argv[1]);
    write_second_run(argv[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
