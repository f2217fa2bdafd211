#include "checkpoint/pickle_file.h"

#include <pagoda/base/error.h>

#include <filesystem>
#include <string>
#include <vector>

#include <caffe2/serialize/inline_container.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "support/scratch_directory.h"
#include "support/tower_fixtures.h"

namespace pagoda {
namespace pickle_file_test {

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

  const auto read = read_pickle(scratch / "file").toGenericDict();
  EXPECT_EQ(read.size(), 4u);
  EXPECT_EQ(read.at("step").toInt(), std::int64_t{1} << 40);
  EXPECT_TRUE(read.at("done").toBool());
  EXPECT_TRUE(read.at("none").isNone());
  const auto items = read.at("list").toList();
  EXPECT_EQ(items.get(0).toDouble(), 1.5);
  const auto deep = items.get(1).toGenericDict();
  EXPECT_TRUE(deep.at("weights").toTensor().equal(weights));
  EXPECT_EQ(deep.at("name").toStringRef(), "tower β");
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
    const at::Tensor read = read_pickle(scratch / "file").toGenericDict().at("tensor").toTensor();
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

}  // namespace pickle_file_test
}  // namespace pagoda
