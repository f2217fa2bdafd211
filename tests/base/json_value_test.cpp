#include <pagoda/base/error.h>
#include <pagoda/base/json_value.h>

#include <cstdint>
#include <string>

#include <gtest/gtest.h>

namespace pagoda {
namespace json_value_test {

std::string refusal(const std::string& text) {
  try {
    parse_json(text, "a.json");
  } catch (const DataError& error) {
    return error.what();
  }
  return "";
}

/// The value as JSON again, without blanks.
std::string text_of(const JsonValue& value) {
  if (const auto* truth = value.as<bool>()) return *truth ? "true" : "false";
  if (const auto* whole = value.as<std::int64_t>()) return std::to_string(*whole);
  if (const auto* number = value.as<double>()) return "~" + std::to_string(*number);
  if (const auto* text = value.as<std::string>()) return '"' + *text + '"';
  std::string inside;
  if (const auto* list = value.as<JsonValue::List>()) {
    for (const auto& item : *list) inside += (inside.empty() ? "" : ",") + text_of(item);
    return "[" + inside + "]";
  }
  if (const auto* object = value.as<JsonValue::Object>()) {
    for (const auto& [name, item] : *object)
      inside += (inside.empty() ? "" : ",") + name + ":" + text_of(item);
    return "{" + inside + "}";
  }
  return "null";
}

TEST(JsonValueTest, ReadsEveryKindOfValueWithObjectsSortedByName) {
  EXPECT_EQ(
      text_of(parse_json(
          R"( {"z": [1, -2, 2.5, 1e2, true, null], "a": {"b": {}, "": []}, "ä": "塔\n\u00e9"} )",
          "a.json")),
      "{a:{:[],b:{}},z:[1,-2,~2.500000,~100.000000,true,null],ä:\"塔\né\"}");
  EXPECT_EQ(text_of(parse_json("7", "a.json")), "7");
}

TEST(JsonValueTest, FindsMembersByName) {
  const JsonValue value = parse_json(R"({"b": 1, "a": "x", "c": [3]})", "a.json");
  ASSERT_NE(value.find("a"), nullptr);
  EXPECT_EQ(*value.find("a")->as<std::string>(), "x");
  EXPECT_EQ(value.find("a")->as<std::int64_t>(), nullptr);
  EXPECT_EQ(value.find("aa"), nullptr);
  EXPECT_EQ(value.find("d"), nullptr);
  EXPECT_EQ(value.find("c")->find("a"), nullptr);
  EXPECT_STREQ(value.find("c")->kind(), "a list");
  EXPECT_STREQ(value.kind(), "an object");
}

TEST(JsonValueTest, WholeNumbersThatDoNotFitAreNumbers) {
  EXPECT_EQ(*parse_json("9223372036854775807", "a").as<std::int64_t>(), INT64_MAX);
  EXPECT_EQ(*parse_json("-9223372036854775808", "a").as<std::int64_t>(), INT64_MIN);
  EXPECT_EQ(*parse_json("9223372036854775808", "a").as<double>(), 9223372036854775808.0);
  EXPECT_EQ(*parse_json("18446744073709551616", "a").as<double>(), 18446744073709551616.0);
}

TEST(JsonValueTest, WhatIsNotJsonIsRefusedWithItsPlace) {
  EXPECT_EQ(refusal(R"({"a": 1,})"), "a.json: not JSON at byte 9, near '1,}'");
  for (const std::string text :
       {"",      " ",    "{",       "[1 2]", "{\"a\"}",  "NaN",      "Infinity",
        "-",     "01",   "1e999",   "\"a",   "\"\x01\"", "\"\xff\"", "\"\\ud800\"",
        "{} {}", "[1]x", "// c\n1", "'a'",   "{a: 1}",   "tru"}) {
    EXPECT_NE(refusal(text).find("a.json: not JSON at byte "), std::string::npos) << text;
    EXPECT_EQ(refusal(text).find('\n'), std::string::npos) << text;
  }
}

TEST(JsonValueTest, ANameThatStandsTwiceIsRefused) {
  EXPECT_EQ(refusal(R"({"a": {"x": 1, "y": 2, "x": 1}})"),
            "a.json: an object has the name 'x' twice");
}

TEST(JsonValueTest, NestingIsBounded) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_EQ(refusal(nested(kMostJsonNesting)), "");
  EXPECT_NE(refusal(nested(kMostJsonNesting + 1)).find("nested deeper"), std::string::npos);
  EXPECT_NE(refusal(std::string(1 << 20, '[')).find("nested deeper"), std::string::npos);
}

}  // namespace json_value_test
}  // namespace pagoda
