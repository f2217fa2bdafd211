#include "checkpoint/pickle_file.h"

#include <pagoda/base/error.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <caffe2/serialize/inline_container.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "support/crafted_archive.h"
#include "support/scratch_directory.h"
#include "support/tower_fixtures.h"

namespace pagoda {
namespace pickle_file_test {

using Dict = PickleValue::Dict;
using Names = std::vector<std::string>;

using testing::FullDisk;
using testing::message_of;
using testing::read_file;
using testing::ScratchDirectory;
using testing::write_file;

c10::IValue dict_of(const std::vector<std::pair<std::string, c10::IValue>>& entries) {
  c10::impl::GenericDict dict(c10::StringType::get(), c10::AnyType::get());
  for (const auto& [key, value] : entries) dict.insert(key, value);
  return dict;
}

PickleValue entry_of(const PickleValue& value, const std::string& key) {
  for (const auto& entry : *value.as<Dict>()) {
    if (entry.key == key) return entry.value;
  }
  throw std::out_of_range(key);
}

TEST(PickleFileTest, GivesBackNestedValues) {
  const ScratchDirectory scratch;
  const at::Tensor weights = torch::randn({3, 4});
  const c10::IValue inner = dict_of({{"weights", weights}, {"name", std::string("tower β")}});
  c10::impl::GenericList list(c10::AnyType::get());
  list.push_back(1.5);
  list.push_back(inner);
  write_pickle(
      dict_of({{"step", std::int64_t{1} << 40}, {"done", true}, {"list", list}, {"none", {}}}),
      scratch / "file");

  const PickleValue read = read_pickle(scratch / "file");
  ASSERT_EQ(read.as<Dict>()->size(), 4u);
  EXPECT_EQ(*entry_of(read, "step").as<std::int64_t>(), std::int64_t{1} << 40);
  EXPECT_TRUE(*entry_of(read, "done").as<bool>());
  EXPECT_TRUE(entry_of(read, "none").as<PickleValue::None>());
  const PickleValue read_list = entry_of(read, "list");
  const auto& items = *read_list.as<PickleValue::List>();
  EXPECT_EQ(*items.at(0).as<double>(), 1.5);
  EXPECT_TRUE(entry_of(items.at(1), "weights").as<at::Tensor>()->equal(weights));
  EXPECT_EQ(*entry_of(items.at(1), "name").as<std::string>(), "tower β");
}

TEST(PickleFileTest, GivesBackTensorsOfEveryKind) {
  const ScratchDirectory scratch;
  const at::Tensor base = torch::arange(24).reshape({2, 3, 4});
  const at::Tensor tensors[] = {base.to(torch::kFloat),
                                base.to(torch::kDouble),
                                base.to(torch::kHalf),
                                base.to(torch::kBFloat16),
                                base.to(torch::kInt),
                                base,
                                base.to(torch::kByte),
                                base > 5,
                                torch::tensor(7),
                                torch::zeros({0, 3}),
                                base.transpose(0, 2),
                                base.slice(2, 1, 3),
                                base[1]};
  for (const at::Tensor& tensor : tensors) {
    write_pickle(dict_of({{"tensor", tensor}}), scratch / "file");
    const at::Tensor read = *entry_of(read_pickle(scratch / "file"), "tensor").as<at::Tensor>();
    EXPECT_EQ(read.scalar_type(), tensor.scalar_type());
    EXPECT_TRUE(read.equal(tensor)) << tensor;
  }
}

TEST(PickleFileTest, EqualValuesGiveEqualBytes) {
  const ScratchDirectory scratch;
  for (const char* name : {"one", "two"})
    write_pickle(dict_of({{"a", torch::ones({5})}}), scratch / name);
  EXPECT_EQ(read_file(scratch / "one"), read_file(scratch / "two"));
}

TEST(PickleFileTest, AFullDiskAtAnyByteIsAnIoErrorAndKeepsTheOldFile) {
  const ScratchDirectory scratch;
  const c10::IValue value = dict_of({{"weights", torch::randn({1000})}});
  write_pickle(value, scratch / "file");
  const std::string old = read_file(scratch / "file");
  for (std::size_t room = 0; room < old.size(); room += 97) {
    std::string message;
    {
      const FullDisk full(room);
      message = message_of<IoError>([&] { write_pickle(value, scratch / "file"); });
    }
    ASSERT_NE(message.find(scratch / "file"), std::string::npos)
        << room << " bytes of room: " << message;
    ASSERT_EQ(read_file(scratch / "file"), old);
    ASSERT_EQ(scratch.names(), Names{"file"});
  }
}

TEST(PickleFileTest, APlaceThatCannotBeWrittenIsAnIoErrorWithItsName) {
  const ScratchDirectory scratch;
  for (const auto& path : {scratch / "missing" / "file", std::filesystem::path("/dev/null/file")}) {
    const std::string message = message_of<IoError>([&] { write_pickle(dict_of({}), path); });
    EXPECT_NE(message.find(path), std::string::npos) << message;
  }
}

TEST(PickleFileTest, AFileThatCannotBeReadIsAnIoErrorWithNameAndReason) {
  const ScratchDirectory scratch;
  const std::pair<std::filesystem::path, const char*> cases[] = {
      {scratch / "missing", "No such file or directory"}, {scratch.path(), "Is a directory"}};
  for (const auto& [path, reason] : cases) {
    const std::string message = message_of<IoError>([&] { read_pickle(path); });
    EXPECT_NE(message.find(path), std::string::npos) << message;
    EXPECT_NE(message.find(reason), std::string::npos) << message;
  }
}

/// An archive as LibTorch writes them, whole by its checksums, but with other content.
void write_archive(const std::filesystem::path& path, const std::string& record,
                   const std::string& content) {
  caffe2::serialize::PyTorchStreamWriter writer(path.string());
  writer.writeRecord(record, content.data(), content.size());
  writer.writeEndOfFile();
}

TEST(PickleFileTest, WhatIsNoCheckpointIsADataErrorInOneLine) {
  const ScratchDirectory scratch;
  write_file(scratch / "empty", "");
  write_file(scratch / "text", "This is no checkpoint, however long it may be.");
  write_archive(scratch / "no_pickle", "readme", "hello");
  write_archive(scratch / "empty_pickle", "data.pkl", "");
  write_archive(scratch / "bad_pickle", "data.pkl", "\x80\x02garbage");
  for (const std::string& name : scratch.names()) {
    const std::string message = message_of<DataError>([&] { read_pickle(scratch / name); });
    EXPECT_NE(message.find(scratch / name), std::string::npos) << name << ": " << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}

/// Two floats.
std::string record_of_floats() {
  const float floats[] = {0.5F, -2.0F};
  return {reinterpret_cast<const char*>(floats), sizeof floats};
}

std::string failure_of(const std::string& bytes) {
  return message_of<DataError>([&] { read_pickle(bytes, "model.pt"); });
}

TEST(PickleFileTest, ReadsBytesInMemory) {
  const std::string bytes =
      testing::saved_archive(testing::pickled_dict("w", testing::pickled_tensor({})),
                             record_of_floats(), {{"archive/byteorder", "little"}});
  const at::Tensor tensor = *entry_of(read_pickle(bytes, "model.pt"), "w").as<at::Tensor>();
  EXPECT_TRUE(tensor.equal(torch::tensor({0.5F, -2.0F})));
}

TEST(PickleFileTest, OtherFormatsAreRefusedWithWhatToDo) {
  const std::string pickle = testing::pickled_dict("w", testing::pickled_tensor({}));
  const std::string floats = record_of_floats();
  const std::pair<std::string, const char*> cases[] = {
      {"\x80\x02\x8a\nl\xfc\x9c" + std::string("F\xf9 j\xa8P\x19.\x80\x02M\xe9\x03."),
       "old format"},
      {testing::saved_archive(pickle, floats, {{"archive/byteorder", "big"}}), "byte order 'big'"},
      {testing::saved_archive(pickle, floats, {{"other/data.pkl", ""}}), "two data.pkl"},
      {testing::zip_of({{"archive/deeper/data.pkl", "N."}}), "no folder/data.pkl"},
      {testing::zip_of({{"data.pkl", "N."}}), "no folder/data.pkl"},
      {testing::zip_of({{"/data.pkl", "N."}}), "no folder/data.pkl"},
      {testing::saved_archive("cos\nsystem\n"),
       "'archive/data.pkl', byte 2: it asks for 'os.system'"},
  };
  for (const auto& [bytes, expected] : cases) {
    const std::string message = failure_of(bytes);
    EXPECT_EQ(message.find("model.pt "), 0u) << message;
    EXPECT_NE(message.find(expected), std::string::npos) << expected << ": " << message;
  }
}

// The bytes behind the record are other people's, or not there at all.
TEST(PickleFileTest, ARecordThatIsShorterThanItsTensorIsRefused) {
  for (const std::int64_t elements :
       {std::int64_t{3}, std::int64_t{1} << 20, std::int64_t{1} << 40}) {
    const std::string bytes = testing::saved_archive(
        testing::pickled_dict("w",
                              testing::pickled_tensor({.elements = elements, .sizes = {elements}})),
        record_of_floats());
    EXPECT_NE(failure_of(bytes).find("'archive/data/0' has 8 bytes"), std::string::npos)
        << failure_of(bytes);
  }
}

// Hash tables of such keys would grow until nothing is left.
TEST(PickleFileTest, KeysMadeToCollideCostNothing) {
  constexpr std::uint64_t kInverse = 17428512612931826493u;  // of 2^64 / golden ratio
  static_assert(kInverse * 11400714819323198485u == 1);
  std::string pickle = "}(";
  for (std::uint64_t i = 0; i < 60; ++i)
    pickle += testing::pickled_int(static_cast<std::int64_t>(i * kInverse)) + "N";
  EXPECT_NE(failure_of(testing::saved_archive(pickle + "u")).find("key of a dict is not text"),
            std::string::npos);
}

TEST(PickleFileTest, AVersionThatIsNoNumberDoesNoHarm) {
  const std::string bytes =
      testing::zip_of({{"archive/data.pkl", "\x80\x02}."}, {"archive/version", "none"}});
  EXPECT_TRUE(read_pickle(bytes, "model.pt").as<Dict>()->empty());
}

}  // namespace pickle_file_test
}  // namespace pagoda
