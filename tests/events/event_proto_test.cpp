#include "events/event_proto.h"

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/event_records.h"

// The numbers here are those of TensorFlow's .proto files; that TensorBoard agrees is shown by
// tensorboard_reads_test.py.

namespace pagoda {
namespace event_proto_test {

using protozero::pbf_reader;
using testing::doubles_at;
using testing::fields_at;
using testing::integers_at;
using testing::message_at;
using testing::texts_at;

using Doubles = std::vector<double>;
using Integers = std::vector<std::int64_t>;
using Texts = std::vector<std::string>;

constexpr EventStamp kStamp{.wall_time = 1.5, .step = 1'000'000'007'000};

/// The only value of a summary event.
pbf_reader value_of(const std::string& event) {
  EXPECT_EQ(doubles_at(pbf_reader(event), 1), Doubles{kStamp.wall_time});
  EXPECT_EQ(integers_at(pbf_reader(event), 2), Integers{kStamp.step});
  return message_at(message_at(pbf_reader(event), 5), 1);
}

std::vector<float> floats_at(const pbf_reader& message, protozero::pbf_tag_type field) {
  return fields_at(message, field, [](pbf_reader& at) { return at.get_float(); });
}

Doubles packed_doubles_at(const pbf_reader& message, protozero::pbf_tag_type field) {
  const auto packed = fields_at(message, field, [](pbf_reader& at) {
    const auto range = at.get_packed_double();
    return Doubles(range.begin(), range.end());
  });
  return packed.size() == 1 ? packed[0] : Doubles{};
}

TEST(EventProtoTest, FileVersion) {
  const std::string event = encode_file_version(2.5);
  EXPECT_EQ(doubles_at(pbf_reader(event), 1), Doubles{2.5});
  EXPECT_EQ(texts_at(pbf_reader(event), 3), Texts{"brain.Event:2"});
}

TEST(EventProtoTest, SessionStart) {
  const std::string event = encode_session_start(kStamp);
  EXPECT_EQ(integers_at(pbf_reader(event), 2), Integers{kStamp.step});
  EXPECT_EQ(integers_at(message_at(pbf_reader(event), 7), 1), Integers{1});
}

TEST(EventProtoTest, Scalar) {
  const std::string event = encode_scalar(kStamp, "loss_0", 0.1f);
  EXPECT_EQ(texts_at(value_of(event), 1), Texts{"loss_0"});
  EXPECT_EQ(floats_at(value_of(event), 2), std::vector<float>{0.1f});
}

TEST(EventProtoTest, Histogram) {
  const std::string event =
      encode_histogram(kStamp, "weights", make_histogram(std::vector<float>{1, -2, 2}));
  EXPECT_EQ(texts_at(value_of(event), 1), Texts{"weights"});
  const pbf_reader histogram = message_at(value_of(event), 5);
  EXPECT_EQ(doubles_at(histogram, 1), Doubles{-2});
  EXPECT_EQ(doubles_at(histogram, 2), Doubles{2});
  EXPECT_EQ(doubles_at(histogram, 3), Doubles{3});
  EXPECT_EQ(doubles_at(histogram, 4), Doubles{1});
  EXPECT_EQ(doubles_at(histogram, 5), Doubles{9});
  EXPECT_EQ(packed_doubles_at(histogram, 7), (Doubles{1, 0, 1, 0, 1}));
  const Doubles limits = packed_doubles_at(histogram, 6);
  EXPECT_EQ(limits.size(), 5u);
  EXPECT_GT(limits.back(), 2);
}

TEST(EventProtoTest, HistogramTellsWhatIsNotFinite) {
  const std::string event =
      encode_histogram(kStamp, "weights", make_histogram(std::vector<float>{1, NAN, NAN}));
  const auto values = fields_at(message_at(pbf_reader(event), 5), 1,
                                [](pbf_reader& at) { return at.get_message(); });
  ASSERT_EQ(values.size(), 2u);
  EXPECT_EQ(doubles_at(message_at(values[0], 5), 3), Doubles{1});
  EXPECT_EQ(texts_at(values[1], 1), Texts{"weights/non_finite"});
  EXPECT_EQ(floats_at(values[1], 2), std::vector<float>{2});
}

TEST(EventProtoTest, Image) {
  const std::string png("\x89\0\xFF", 3);
  const std::string event = encode_image(kStamp, "batch", {.width = 7, .height = 5, .png = png});
  EXPECT_EQ(texts_at(value_of(event), 1), Texts{"batch"});
  const pbf_reader image = message_at(value_of(event), 4);
  EXPECT_EQ(integers_at(image, 1), Integers{5});
  EXPECT_EQ(integers_at(image, 2), Integers{7});
  EXPECT_EQ(integers_at(image, 3), Integers{3});
  EXPECT_EQ(texts_at(image, 4), Texts{png});
}

TEST(EventProtoTest, Text) {
  const std::string event = encode_text(kStamp, "config", "**batch** 64");
  EXPECT_EQ(texts_at(value_of(event), 1), Texts{"config"});
  EXPECT_EQ(texts_at(message_at(message_at(value_of(event), 9), 1), 1), Texts{"text"});
  const pbf_reader tensor = message_at(value_of(event), 8);
  EXPECT_EQ(integers_at(tensor, 1), Integers{7});
  EXPECT_EQ(texts_at(tensor, 2), Texts{""});
  EXPECT_EQ(texts_at(tensor, 8), Texts{"**batch** 64"});
}

TEST(EventProtoTest, Graph) {
  const std::vector<GraphNode> nodes{{.name = "images", .op = "Input"},
                                     {.name = "features/conv1",
                                      .op = "Conv2d",
                                      .inputs = {"images", "^seed"},
                                      .attributes = {{"kernel_size", "5x5"}, {"bias", "yes"}}}};
  const std::string event = encode_graph(3.5, nodes);
  EXPECT_EQ(doubles_at(pbf_reader(event), 1), Doubles{3.5});
  const pbf_reader graph = message_at(pbf_reader(event), 4);
  const auto messages = fields_at(graph, 1, [](pbf_reader& at) { return at.get_message(); });
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_EQ(texts_at(messages[0], 1), Texts{"images"});
  EXPECT_EQ(texts_at(messages[1], 1), Texts{"features/conv1"});
  EXPECT_EQ(texts_at(messages[1], 2), Texts{"Conv2d"});
  EXPECT_EQ(texts_at(messages[1], 3), (Texts{"images", "^seed"}));
  const auto attributes =
      fields_at(messages[1], 5, [](pbf_reader& at) { return at.get_message(); });
  ASSERT_EQ(attributes.size(), 2u);
  EXPECT_EQ(texts_at(attributes[0], 1), Texts{"kernel_size"});
  EXPECT_EQ(texts_at(message_at(attributes[0], 2), 2), Texts{"5x5"});
  EXPECT_EQ(texts_at(attributes[1], 1), Texts{"bias"});
}

TEST(EventProtoTest, TextIsAlwaysValidUtf8) {
  const std::string bad = "f\xFCr";
  const std::string good = "f\xEF\xBF\xBDr";
  EXPECT_EQ(texts_at(value_of(encode_scalar(kStamp, bad, 1)), 1), Texts{good});
  EXPECT_EQ(texts_at(message_at(value_of(encode_text(kStamp, "t", bad)), 8), 8), Texts{good});
  const std::vector<GraphNode> nodes{
      {.name = bad, .op = bad, .inputs = {bad}, .attributes = {{bad, bad}}}};
  EXPECT_EQ(encode_graph(0, nodes).find(bad), std::string::npos);
}

}  // namespace event_proto_test
}  // namespace pagoda
