#include "events/event_proto.h"

#include <pagoda/base/utf8.h>

#include <protozero/pbf_builder.hpp>

// Field numbers from TensorFlow's event.proto, summary.proto, histogram.proto, tensor.proto,
// graph.proto, node_def.proto, attr_value.proto and versions.proto; only those that are written.

namespace pagoda {
namespace {

using protozero::pbf_tag_type;
template <class Field>
using Message = protozero::pbf_builder<Field>;

enum class EventField : pbf_tag_type {
  wall_time = 1,
  step = 2,
  file_version = 3,
  graph_def = 4,
  summary = 5,
  session_log = 7
};
enum class SessionLogField : pbf_tag_type { status = 1 };
constexpr int kSessionStart = 1;

enum class SummaryField : pbf_tag_type { value = 1 };
enum class ValueField : pbf_tag_type {
  tag = 1,
  simple_value = 2,
  image = 4,
  histo = 5,
  tensor = 8,
  metadata = 9
};
enum class MetadataField : pbf_tag_type { plugin_data = 1 };
enum class PluginDataField : pbf_tag_type { plugin_name = 1 };

enum class HistogramField : pbf_tag_type {
  min = 1,
  max = 2,
  num = 3,
  sum = 4,
  sum_squares = 5,
  bucket_limit = 6,
  bucket = 7
};

enum class ImageField : pbf_tag_type { height = 1, width = 2, colorspace = 3, encoded = 4 };
constexpr int kColorspaceRgb = 3;

enum class TensorField : pbf_tag_type { dtype = 1, shape = 2, string_val = 8 };
constexpr int kTypeString = 7;

enum class GraphField : pbf_tag_type { node = 1, versions = 4 };
enum class VersionsField : pbf_tag_type { producer = 1 };
constexpr int kGraphProducer =
    22;  // what PyTorch's writer says; any number will do for showing a graph

enum class NodeField : pbf_tag_type { name = 1, op = 2, input = 3, attr = 5 };
enum class AttrEntryField : pbf_tag_type { key = 1, value = 2 };
enum class AttrValueField : pbf_tag_type { s = 2 };

/// An event whose content `fill(event)` adds.
template <class Fill>
std::string encode_event(EventStamp stamp, Fill fill) {
  std::string bytes;
  Message<EventField> event(bytes);
  event.add_double(EventField::wall_time, stamp.wall_time);
  event.add_int64(EventField::step, stamp.step);
  fill(event);
  return bytes;
}

template <class Fill>
void add_value(Message<SummaryField>& summary, std::string_view tag, Fill fill) {
  Message<ValueField> value(summary, SummaryField::value);
  value.add_string(ValueField::tag, valid_utf8(tag));
  fill(value);
}

template <class Fill>
std::string encode_summary(EventStamp stamp, std::string_view tag, Fill fill) {
  return encode_event(stamp, [&](Message<EventField>& event) {
    Message<SummaryField> summary(event, EventField::summary);
    add_value(summary, tag, fill);
  });
}

void add_histogram(Message<ValueField>& value, const Histogram& histogram) {
  Message<HistogramField> message(value, ValueField::histo);
  message.add_double(HistogramField::min, histogram.min);
  message.add_double(HistogramField::max, histogram.max);
  message.add_double(HistogramField::num, static_cast<double>(histogram.count));
  message.add_double(HistogramField::sum, histogram.sum);
  message.add_double(HistogramField::sum_squares, histogram.sum_squares);
  const auto& limits = histogram.limits;
  const auto& counts = histogram.counts;
  message.add_packed_double(HistogramField::bucket_limit, limits.begin(), limits.end());
  message.add_packed_double(HistogramField::bucket, counts.begin(), counts.end());
}

void add_node(Message<GraphField>& graph, const GraphNode& node) {
  Message<NodeField> message(graph, GraphField::node);
  message.add_string(NodeField::name, valid_utf8(node.name));
  message.add_string(NodeField::op, valid_utf8(node.op));
  for (const std::string& input : node.inputs)
    message.add_string(NodeField::input, valid_utf8(input));
  for (const auto& [name, text] : node.attributes) {
    Message<AttrEntryField> entry(message, NodeField::attr);
    entry.add_string(AttrEntryField::key, valid_utf8(name));
    Message<AttrValueField> value(entry, AttrEntryField::value);
    value.add_bytes(AttrValueField::s, valid_utf8(text));
  }
}

}  // namespace

std::string encode_file_version(double wall_time) {
  return encode_event({.wall_time = wall_time}, [](Message<EventField>& event) {
    event.add_string(EventField::file_version, "brain.Event:2");
  });
}

std::string encode_session_start(EventStamp stamp) {
  return encode_event(stamp, [](Message<EventField>& event) {
    Message<SessionLogField> log(event, EventField::session_log);
    log.add_enum(SessionLogField::status, kSessionStart);
  });
}

std::string encode_scalar(EventStamp stamp, std::string_view tag, float number) {
  return encode_summary(stamp, tag, [&](Message<ValueField>& value) {
    value.add_float(ValueField::simple_value, number);
  });
}

std::string encode_histogram(EventStamp stamp, std::string_view tag, const Histogram& histogram) {
  return encode_event(stamp, [&](Message<EventField>& event) {
    Message<SummaryField> summary(event, EventField::summary);
    add_value(summary, tag, [&](Message<ValueField>& value) { add_histogram(value, histogram); });
    if (histogram.non_finite == 0) return;
    add_value(summary, std::string(tag) + "/non_finite", [&](Message<ValueField>& value) {
      value.add_float(ValueField::simple_value, static_cast<float>(histogram.non_finite));
    });
  });
}

std::string encode_image(EventStamp stamp, std::string_view tag, const EncodedImage& image) {
  return encode_summary(stamp, tag, [&](Message<ValueField>& value) {
    Message<ImageField> message(value, ValueField::image);
    message.add_int32(ImageField::height, image.height);
    message.add_int32(ImageField::width, image.width);
    message.add_int32(ImageField::colorspace, kColorspaceRgb);
    message.add_bytes(ImageField::encoded, image.png.data(), image.png.size());
  });
}

std::string encode_text(EventStamp stamp, std::string_view tag, std::string_view markdown) {
  return encode_summary(stamp, tag, [&](Message<ValueField>& value) {
    {
      Message<MetadataField> metadata(value, ValueField::metadata);
      Message<PluginDataField> plugin(metadata, MetadataField::plugin_data);
      plugin.add_string(PluginDataField::plugin_name, "text");
    }
    Message<TensorField> tensor(value, ValueField::tensor);
    tensor.add_enum(TensorField::dtype, kTypeString);
    // No dimensions: one text, not a table of texts.
    tensor.add_message(TensorField::shape, std::string());
    tensor.add_bytes(TensorField::string_val, valid_utf8(markdown));
  });
}

std::string encode_graph(double wall_time, std::span<const GraphNode> nodes) {
  std::string bytes;
  Message<GraphField> graph(bytes);
  for (const GraphNode& node : nodes) add_node(graph, node);
  {
    Message<VersionsField> versions(graph, GraphField::versions);
    versions.add_int32(VersionsField::producer, kGraphProducer);
  }
  return encode_event({.wall_time = wall_time}, [&](Message<EventField>& event) {
    event.add_bytes(EventField::graph_def, bytes);
  });
}

}  // namespace pagoda
