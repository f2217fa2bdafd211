#pragma once

#include <pagoda/events/graph_node.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "events/histogram.h"

namespace pagoda {

// TensorFlow's Event messages as protobuf bytes, one function for each kind. Text is made valid
// UTF-8.
//
// Threads: any. Fails: never.

struct EventStamp {
  double wall_time = 0;   ///< seconds since 1970
  std::int64_t step = 0;  ///< of the run
};

/// The first event of a file.
std::string encode_file_version(double wall_time);

/// A session starts; unless it is the run's first, events of this step and later ones are void.
std::string encode_session_start(EventStamp stamp);

std::string encode_scalar(EventStamp stamp, std::string_view tag, float value);

/// With the scalar `<tag>/non_finite` beside it if there are such values.
std::string encode_histogram(EventStamp stamp, std::string_view tag, const Histogram& histogram);

struct EncodedImage {
  int width = 0;
  int height = 0;
  std::string_view png;
};
std::string encode_image(EventStamp stamp, std::string_view tag, const EncodedImage& image);

std::string encode_text(EventStamp stamp, std::string_view tag, std::string_view markdown);

std::string encode_graph(double wall_time, std::span<const GraphNode> nodes);

}  // namespace pagoda
