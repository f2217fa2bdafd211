#include "checkpoint/pickle_reader.h"

#include <pagoda/base/error.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <torch/types.h>

#include "support/crafted_archive.h"
#include "support/tower_fixtures.h"

namespace pagoda {
namespace pickle_reader_test {

using namespace pagoda::testing;  // pieces of pickles
using Dict = PickleValue::Dict;
using List = PickleValue::List;

/// The value of a pickle between its first opcode and its last, with a record of two floats.
PickleValue parsed(const std::string& pickle) {
  const float floats[] = {0.5F, -2.0F};
  const std::string record(reinterpret_cast<const char*>(floats), sizeof floats);
  const std::string bytes = zip_of({{"f/data/0", record}});
  const ZipArchive archive(bytes, "the archive");
  StoredTensors tensors(archive, "f", nullptr);
  return parse_pickle("\x80\x02" + pickle + ".", tensors, "model.pt");
}

std::string failure_of(const std::string& pickle) {
  return message_of<DataError>([&] { parsed(pickle); });
}

std::string put(int index) { return {'q', static_cast<char>(index)}; }
std::string get(int index) { return {'h', static_cast<char>(index)}; }

TEST(PickleReaderTest, ReadsNumbersAndText) {
  const std::pair<std::string, std::int64_t> integers[] = {
      {std::string("K\xff", 2), 255},
      {std::string("M\x01\xff", 3), 0xff01},
      {std::string("J\xfe\xff\xff\xff", 5), -2},
      {std::string("\x8a\x00", 2), 0},
      {std::string("\x8a\x01\xff", 3), -1},
      {std::string("\x8a\x02\x00\x80", 4), -32768},
      {pickled_int(INT64_MIN), INT64_MIN},
      {pickled_int(INT64_MAX), INT64_MAX}};
  for (const auto& [pickle, value] : integers) EXPECT_EQ(*parsed(pickle).as<std::int64_t>(), value);
  EXPECT_EQ(*parsed(std::string("G\xbf\xf8\0\0\0\0\0\0", 9)).as<double>(), -1.5);
  EXPECT_TRUE(*parsed("\x88").as<bool>());
  EXPECT_FALSE(*parsed("\x89").as<bool>());
  EXPECT_TRUE(parsed("N").as<PickleValue::None>());
  EXPECT_EQ(*parsed(pickled_text("tower β")).as<std::string>(), "tower β");
  EXPECT_EQ(*parsed("\x8c\x02hi").as<std::string>(), "hi");
}

TEST(PickleReaderTest, ReadsContainersInAllTheirForms) {
  const PickleValue list = parsed("](NNe" + std::string("N\x85") + "a");
  ASSERT_EQ(list.as<List>()->size(), 3u);
  EXPECT_EQ(list.as<List>()->back().as<List>()->size(), 1u);
  EXPECT_EQ(parsed(")").as<List>()->size(), 0u);
  EXPECT_EQ(parsed("NN\x86").as<List>()->size(), 2u);
  EXPECT_EQ(parsed("NNN\x87").as<List>()->size(), 3u);
  EXPECT_EQ(parsed("(NNNNt").as<List>()->size(), 4u);
  const PickleValue dict =
      parsed("}(" + pickled_text("b") + "N" + pickled_text("a") + "]u" + pickled_text("c") + ")s");
  ASSERT_EQ(dict.as<Dict>()->size(), 3u);
  EXPECT_EQ(dict.as<Dict>()->front().key, "b");  // in the file's order
}

TEST(PickleReaderTest, ReadsTensorsAndParameters) {
  const at::Tensor expected = torch::tensor({0.5F, -2.0F});
  EXPECT_TRUE(parsed(pickled_tensor({})).as<at::Tensor>()->equal(expected));
  const std::string parameter = pickled_global("torch._utils", "_rebuild_parameter") +
                                pickled_tensor({}) + "\x88" +
                                pickled_global("collections", "OrderedDict") + ")R\x87R";
  EXPECT_TRUE(parsed(parameter).as<at::Tensor>()->equal(expected));
  EXPECT_TRUE(parsed(pickled_tensor({.metadata = "N"})).as<at::Tensor>()->equal(expected));
}

TEST(PickleReaderTest, AnOrderedDictsAttributesArePassedOver) {
  const PickleValue value =
      parsed(pickled_global("collections", "OrderedDict") + ")R(" + pickled_text("w") +
             pickled_tensor({}) + "u" + pickled_dict("_metadata", "}") + "b");
  ASSERT_EQ(value.as<Dict>()->size(), 1u);
  EXPECT_EQ(value.as<Dict>()->front().key, "w");
}

TEST(PickleReaderTest, ReadsFramesAndNamesOfNewerProtocols) {
  const PickleValue value = parsed("\x95" + little_endian(99, 8) + "\x8c\x0b" +
                                   "collections\x94\x8c\x0bOrderedDict\x93)R" + get(0) + "Ns");
  EXPECT_EQ(value.as<Dict>()->front().key, "collections");
}

TEST(PickleReaderTest, WhatIsRepeatedIsTheSame) {
  const PickleValue value =
      parsed("(" + pickled_text("x") + put(7) + "K\x01K\x02\x86" + put(8) + pickled_tensor({}) +
             "r" + little_endian(70000, 4) + get(7) + get(8) + "j" + little_endian(70000, 4) + "t");
  const auto& items = *value.as<List>();
  EXPECT_EQ(*items[3].as<std::string>(), "x");
  EXPECT_EQ(*items[4].as<List>()->at(1).as<std::int64_t>(), 2);
  EXPECT_TRUE(items[5].as<at::Tensor>()->is_same(*items[2].as<at::Tensor>()));
}

TEST(PickleReaderTest, EverythingElseIsRefusedByName) {
  const std::string dict_global = pickled_global("collections", "OrderedDict");
  const std::pair<std::string, const char*> cases[] = {
      {pickled_global("os", "system") + "(" + pickled_text("true") + "tR", "'os.system'"},
      {pickled_global("torch._utils", "_rebuild_tensor_v3"), "'torch._utils._rebuild_tensor_v3'"},
      {pickled_text("builtins") + pickled_text("eval") + "\x93", "'builtins.eval'"},
      {"cos\nsyst", "a name does not end"},
      {"NN\x93", "a name is not text"},
      {"i", "opcode 'i'"},
      {"N2", "opcode '2'"},
      {"\x81", "opcode 0x81"},
      {"\x80\x06", "protocol 6"},
      {"\x8a\x09" + std::string(9, '\x7f'), "more than 64 bits"},
      {"X" + little_endian(1000, 4) + "short", "ends in the middle"},
      {"N.N", "goes on after its end"},
      {"NN", "exactly one value"},
      {"(N", "exactly one value"},
      {"", "exactly one value"},
      {"a", "takes a value where there is none"},
      {"t", "a mark is missing"},
      {"N(a", "takes a value where there is none"},
      {"](\x85", "takes a value where there is none"},
      {"NNa", "no list"},
      {"}Na", "no list"},
      {"](NNu", "no dict"},
      {"}(Nu", "no dict"},
      {"}K\x01Ns", "key of a dict is not text"},
      {"}(" + pickled_text("w") + "N" + pickled_text("w") + "Nu", "two entries 'w'"},
      {get(3), "repeats value 3"},
      {"]" + put(0) + get(0) + "a", "one list or dict in two places"},
      {dict_global + ")R" + put(0) + get(0) + "\x86", "one list or dict in two places"},
      {dict_global, "a class or a bare storage"},
      {"]" + dict_global + "a", "a class or a bare storage"},
      {pickled_storage({}), "a class or a bare storage"},
      {dict_global + "](N\x85" + "e\x85R", "an OrderedDict has arguments"},
      {"N)R", "no function"},
      {pickled_global("torch", "FloatStorage") + ")R", "no function"},
      {"]Nb", "no OrderedDict"},
      {"NQ", "5 parts"},
      {"(NNNNNtQ", "a storage's id must be"},
      {pickled_global("torch._utils", "_rebuild_tensor_v2") + ")R", "0 arguments"},
      {pickled_global("torch._utils", "_rebuild_tensor_v2") + "(NNNNNNtR", "lacks its storage"},
      {pickled_global("torch._utils", "_rebuild_parameter") + "NNN\x87R", "a parameter must"},
      {pickled_tensor({.storage_class = "QInt8Storage"}), "'torch.QInt8Storage'"},
      {pickled_tensor({.key = "5"}), "'f/data/5' is missing"},
      {pickled_tensor({.elements = 1000, .sizes = {1000}}), "'f/data/0' has 8 bytes"},
      {pickled_tensor({.sizes = {3}}), "does not fit its storage"},
      {pickled_tensor({.metadata = pickled_dict("neg", "\x88")}), "hooks or metadata"},
  };
  for (const auto& [pickle, expected] : cases) {
    const std::string message = failure_of(pickle);
    EXPECT_NE(message.find(expected), std::string::npos) << expected << ": " << message;
    EXPECT_EQ(message.find("model.pt, byte "), 0u) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}

TEST(PickleReaderTest, NestingIsBounded) {
  const auto lists = [](std::size_t depth) {
    return repeated("]", depth) + repeated("a", depth - 1);
  };
  EXPECT_EQ(failure_of(lists(kMaxPickleDepth)), "");
  for (const std::string& pickle :
       {lists(kMaxPickleDepth + 1), lists(1'000'000), "N" + repeated("\x85", 1'000'000),
        repeated("}" + pickled_text("k"), 1000) + "N" + repeated("s", 1000)}) {
    const std::string message = failure_of(pickle);
    EXPECT_NE(message.find("nested more than 64 deep"), std::string::npos) << message;
  }
}

// Each would be gigabytes if it were written out.
TEST(PickleReaderTest, WhatIsRepeatedIsCounted) {
  std::string doubled = "N" + put(0);
  for (int i = 0; i < 60; ++i) doubled += get(i) + get(i) + "\x86" + put(i + 1);
  std::string remembered = "(" + repeated("N", 1000) + "t";
  for (int i = 0; i < 100'000; ++i) remembered += "r" + little_endian(static_cast<unsigned>(i), 4);
  for (const std::string& pickle : {doubled, remembered}) {
    const std::string message = failure_of(pickle);
    EXPECT_NE(message.find(" values;"), std::string::npos) << message;
  }
  const std::string text = pickled_text(std::string(1 << 20, 'x'));
  EXPECT_NE(failure_of("(" + text + put(0) + repeated(get(0), 1000) + "t").find("bytes of text"),
            std::string::npos);
  EXPECT_NE(failure_of("(" + repeated("N", 5'000'000) + "t").find("4000000 values"),
            std::string::npos);
  EXPECT_NE(failure_of(repeated("(", 5'000'000)).find("4000000 values"), std::string::npos);
}

TEST(PickleReaderTest, ManyTensorsOfOneStorageAreViewsOfIt) {
  const std::string arguments = "(" + pickled_storage({}) + pickled_int(0) + pickled_tuple({2}) +
                                pickled_tuple({1}) + "\x89Nt";
  const std::size_t count = 1000;
  const PickleValue value =
      parsed("(" + pickled_global("torch._utils", "_rebuild_tensor_v2") + put(0) + arguments +
             put(1) + "R" + repeated(get(0) + get(1) + "R", count) + "t");
  const auto& tensors = *value.as<List>();
  ASSERT_EQ(tensors.size(), count + 1);
  for (const PickleValue& tensor : tensors)
    EXPECT_TRUE(tensor.as<at::Tensor>()->is_alias_of(*tensors[0].as<at::Tensor>()));
}

}  // namespace pickle_reader_test
}  // namespace pagoda
