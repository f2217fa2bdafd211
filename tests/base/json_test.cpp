#include <pagoda/base/json.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace pagoda {
namespace json_test {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <class T>
std::string text_of(T value) {
  return JsonWriter().value(value).text();
}

TEST(JsonWriterTest, WritesTheExampleOfTheHeader) {
  JsonWriter json;
  json.begin_object().key("step").value(7).key("losses").values(std::vector<double>{0.5, 2});
  json.end_object();
  EXPECT_EQ(json.text(), R"({"step":7,"losses":[0.5,2]})");
}

TEST(JsonWriterTest, SeparatesValuesAtEveryDepth) {
  JsonWriter json;
  json.begin_array().begin_object().end_object().begin_array().end_array();
  json.begin_object().key("a").begin_array().value(1).null().end_array().key("b").value("{");
  json.end_object().value(true).end_array();
  EXPECT_EQ(json.text(), R"([{},[],{"a":[1,null],"b":"{"},true])");
}

TEST(JsonWriterTest, EscapesWhatJsonDoesNotAllowInText) {
  EXPECT_EQ(text_of(R"(say "hi" \ bye)"), R"("say \"hi\" \\ bye")");
  EXPECT_EQ(text_of(std::string("a\tb\nc\0d\x1f", 8)), R"("a\u0009b\u000ac\u0000d\u001f")");
  EXPECT_EQ(text_of("é 塔 / '"), R"("é 塔 / '")");
  EXPECT_EQ(JsonWriter().begin_object().key("a\"b").value(1).end_object().text(), R"({"a\"b":1})");
}

TEST(JsonWriterTest, WritesEveryDigitOfANumber) {
  for (const double number : {0.1, -1.0 / 3, 1e-300, 1.7976931348623157e308, 0.0}) {
    EXPECT_EQ(std::stod(text_of(number)), number) << text_of(number);
  }
  EXPECT_EQ(text_of(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(text_of(false), "false");
}

TEST(JsonWriterTest, NumbersThatJsonLacksBecomeNull) {
  const std::vector<double> numbers = {kInfinity, -kInfinity,
                                       std::numeric_limits<double>::quiet_NaN()};
  EXPECT_EQ(JsonWriter().values(numbers).text(), "[null,null,null]");
}

TEST(JsonWriterTest, WritesArraysOfEveryKindOfValue) {
  EXPECT_EQ(JsonWriter().values(std::vector<std::string>{"a", "b"}).text(), R"(["a","b"])");
  EXPECT_EQ(JsonWriter().values(std::vector<bool>{true, false}).text(), "[true,false]");
  EXPECT_EQ(JsonWriter().values(std::vector<float>{0.5F}).text(), "[0.5]");
  EXPECT_EQ(JsonWriter().values(std::vector<int>{}).text(), "[]");
}

}  // namespace json_test
}  // namespace pagoda
