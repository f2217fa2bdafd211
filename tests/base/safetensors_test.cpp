#include "base/safetensors.h"

#include <pagoda/base/error.h>

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/safetensors_bytes.h"
#include "support/tower_fixtures.h"

namespace pagoda {
namespace safetensors_test {

using testing::message_of;
using testing::safetensors_bytes;
using Metadata = std::map<std::string, std::string>;

/// The message without what all of them begin with.
std::string refusal(const std::string& bytes) {
  const std::string message =
      message_of<DataError>([&] { parse_safetensors(bytes, "a.safetensors"); });
  const std::string begin = "a.safetensors is damaged, or not a safetensors file: ";
  EXPECT_EQ(message.find('\n'), std::string::npos);
  return message.starts_with(begin) ? message.substr(begin.size()) : message;
}

std::string refusal(const std::string& header, std::size_t data) {
  return refusal(safetensors_bytes(header, std::string(data, '\0')));
}

std::string entry(const std::string& type, const std::string& shape, const std::string& offsets) {
  return R"({"dtype":")" + type + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
}

std::string one_tensor(const std::string& type, const std::string& shape,
                       const std::string& offsets) {
  return R"({"a":)" + entry(type, shape, offsets) + "}";
}

TEST(SafetensorsTest, GivesNamesTypesShapesBytesAndMetadata) {
  const std::string bytes = safetensors_bytes(
      R"({"b":)" + entry("F32", "[2]", "[1,9]") +
          R"(,"__metadata__":{"format":"pt","é":"塔"},"a":)" + entry("U8", "[]", "[0,1]") +
          R"(,"c\"\n":)" + entry("I64", "[3,0]", "[9,9]") + "}   ",
      "_abcdefgh");
  const Safetensors file = parse_safetensors(bytes, "a.safetensors");
  EXPECT_EQ(file.metadata, (Metadata{{"format", "pt"}, {"é", "塔"}}));
  ASSERT_EQ(file.tensors.size(), 3u);
  EXPECT_EQ(file.tensors[0].name, "a");
  EXPECT_EQ(file.tensors[0].type, at::kByte);
  EXPECT_TRUE(file.tensors[0].shape.empty());
  EXPECT_EQ(file.tensors[0].bytes, "_");
  EXPECT_EQ(file.tensors[1].bytes, "abcdefgh");
  EXPECT_EQ(file.tensors[2].name, "c\"\n");
  EXPECT_EQ(file.tensors[2].shape, (std::vector<std::int64_t>{3, 0}));
  EXPECT_TRUE(parse_safetensors(safetensors_bytes("{}", ""), "a").tensors.empty());
}

TEST(SafetensorsTest, AHeaderIsReadAsItWasWrittenForEveryType) {
  std::vector<FileTensor> tensors;
  std::string data;
  for (int type = 0; type < static_cast<int>(at::ScalarType::NumOptions); ++type) {
    const auto scalar = static_cast<at::ScalarType>(type);
    if (safetensors_type(scalar) == nullptr) continue;
    tensors.push_back({std::string("name \"") + safetensors_type(scalar), scalar, {3, 1}});
    data.append(3 * c10::elementSize(scalar), '\1');
  }
  ASSERT_EQ(tensors.size(), 19u);
  const std::string header = safetensors_header(tensors, {{"format", "pt"}});
  EXPECT_EQ(header.size() % 8, 0u);
  const std::string bytes = header + data;
  const Safetensors file = parse_safetensors(bytes, "a");
  ASSERT_EQ(file.tensors.size(), tensors.size());
  for (const FileTensor& read : file.tensors) {
    EXPECT_EQ(read.name, std::string("name \"") + safetensors_type(read.type));
    EXPECT_EQ(read.bytes, std::string(3 * c10::elementSize(read.type), '\1'));
  }
  EXPECT_EQ(file.metadata, (Metadata{{"format", "pt"}}));
}

TEST(SafetensorsTest, WhatTheFormatLacksIsRefusedByName) {
  EXPECT_EQ(message_of<UsageError>([] {
              safetensors_header({{"w", at::kComplexDouble, {}}}, {});
            }),
            "a safetensors file cannot hold tensor 'w' of type ComplexDouble; write a .pt file");
  EXPECT_EQ(
      message_of<UsageError>([] {
        safetensors_header({{"\xff", at::kFloat, {}}}, {});
      }),
      "a safetensors file cannot hold a tensor of the name '\xff': not UTF-8; write a .pt file");
  EXPECT_EQ(message_of<UsageError>([] {
              safetensors_header({{"__metadata__", at::kFloat}}, {});
            }),
            "a safetensors file cannot hold a tensor of the name '__metadata__'; write a .pt file");
}

TEST(SafetensorsTest, BadHeadersAreRefused) {
  EXPECT_EQ(refusal(std::string(7, '\0')), "it has 7 bytes, fewer than a header's length");
  EXPECT_EQ(refusal(std::string(8, '\xff') + "{}"),
            "its header would have 18446744073709551615 bytes; the format allows 100000000");
  EXPECT_EQ(refusal(safetensors_bytes("{}", "").substr(0, 9)),
            "its header of 2 bytes is cut off at 1");
  EXPECT_EQ(refusal("", 0), "its header is no JSON object");
  EXPECT_EQ(refusal(" {}", 0), "its header is no JSON object");
  EXPECT_EQ(refusal("PK\x03\x04 and so on"),
            "it is a zip archive, as torch.save writes it; give it a name that ends in .pt");
  EXPECT_EQ(refusal("{\"a\"}", 0),
            "a.safetensors is damaged: its header: not JSON at byte 5, near '\"a\"}'");
  EXPECT_EQ(refusal(R"({"a":1,"a":2})", 0),
            "a.safetensors is damaged: its header: an object has the name 'a' twice");
  EXPECT_EQ(refusal(R"({"__metadata__":[]})", 0), "__metadata__ is a list, not an object of texts");
  EXPECT_EQ(refusal(R"({"__metadata__":{"k":1}})", 0),
            "__metadata__ says a whole number of 'k'; only texts can stand there");
}

TEST(SafetensorsTest, BadEntriesAreRefusedByName) {
  EXPECT_EQ(refusal(R"({"a":7})", 0), "tensor 'a' is a whole number in the header, not an object");
  EXPECT_EQ(refusal(R"({"a":{"dtype":"F32","shape":[]}})", 4),
            "tensor 'a' has no data_offsets in the header");
  EXPECT_EQ(refusal(R"({"a":{"dtype":4,"shape":[],"data_offsets":[0,4]}})", 4),
            "tensor 'a' has a whole number as dtype, not text");
  EXPECT_TRUE(refusal(one_tensor("F4", "[2]", "[0,1]"), 1)
                  .starts_with("tensor 'a' has the dtype 'F4'; Pagoda reads F64, F32,"));
  EXPECT_EQ(refusal(one_tensor("F32", "[-1]", "[0,4]"), 4),
            "tensor 'a' has -1 in its shape; these are whole numbers from 0 on");
  EXPECT_EQ(refusal(one_tensor("F32", "[1.0]", "[0,4]"), 4),
            "tensor 'a' has a number in its shape; these are whole numbers from 0 on");
  EXPECT_EQ(refusal(one_tensor("F32", "[1]", "[0,18446744073709551615]"), 4),
            "tensor 'a' has a number in its data_offsets; these are whole numbers from 0 on");
  EXPECT_EQ(refusal(one_tensor("F32", "{}", "[0,4]"), 4), "tensor 'a' has an object as shape");
  EXPECT_EQ(refusal(one_tensor("BOOL", "[1]", "[0,1]") + "       ", 0),
            "tensor 'a' has the data_offsets [0, 1]; they must be a beginning and an end within "
            "the 0 bytes of data");
  EXPECT_EQ(refusal(safetensors_bytes(one_tensor("BOOL", "[2]", "[0,2]"), "\1\2")),
            "tensor 'a' holds truth values other than 0 and 1");
}

TEST(SafetensorsTest, TensorsMustFillTheFileEachByteOnce) {
  for (const char* offsets : {"[0,5]", "[3,2]", "[0]", "[0,4,4]", "[5,5]", "[]"}) {
    EXPECT_NE(refusal(one_tensor("F32", "[1]", offsets), 4).find("has the data_offsets ["),
              std::string::npos)
        << offsets;
  }
  EXPECT_EQ(refusal(one_tensor("F32", "[2]", "[0,4]"), 4),
            "tensor 'a' is F32 [2], which takes 8 bytes, but has 4");
  EXPECT_EQ(refusal(one_tensor("F32", "[4611686018427387904,4]", "[0,4]"), 4),
            "tensor 'a' is F32 [4611686018427387904, 4], which no tensor can be");
  EXPECT_EQ(refusal(one_tensor("F32", "[0,4611686018427387904,4]", "[0,0]"), 0),
            "tensor 'a' is F32 [0, 4611686018427387904, 4], which no tensor can be");
  EXPECT_EQ(refusal(one_tensor("F32", "[1]", "[0,4]"), 7),
            "bytes 4 to 7 of its data belong to no tensor");
  EXPECT_EQ(refusal("{}", 1), "bytes 0 to 1 of its data belong to no tensor");
  const auto two = [](const std::string& first, const std::string& second) {
    return R"({"a":)" + first + R"(,"b":)" + second + "}";
  };
  EXPECT_EQ(refusal(two(entry("U8", "[2]", "[0,2]"), entry("U8", "[2]", "[3,5]")), 5),
            "bytes 2 to 3 of its data belong to no tensor");
  EXPECT_EQ(refusal(two(entry("U8", "[3]", "[0,3]"), entry("U8", "[3]", "[2,5]")), 5),
            "tensor 'b' overlaps tensor 'a'");
  EXPECT_EQ(refusal(two(entry("U8", "[3]", "[0,3]"), entry("U8", "[3]", "[0,3]")), 3),
            "tensor 'b' overlaps tensor 'a'");
  EXPECT_EQ(refusal(two(entry("U8", "[3]", "[0,3]"), entry("U8", "[0]", "[1,1]")), 3),
            "tensor 'b' overlaps tensor 'a'");
}

}  // namespace safetensors_test
}  // namespace pagoda
