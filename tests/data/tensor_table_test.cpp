#include <pagoda/base/error.h>
#include <pagoda/data/batches.h>
#include <pagoda/data/tensor_table.h>

#include <cstring>
#include <filesystem>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "base/safetensors.h"
#include "support/npy_bytes.h"
#include "support/resident_memory.h"
#include "support/scratch_directory.h"
#include "support/tower_fixtures.h"

namespace pagoda {
namespace tensor_table_test {

using testing::message_of;
using testing::npy_bytes;
using testing::npy_header;
using testing::read_file;
using testing::ScratchDirectory;
using testing::write_file;
using Numbers = std::vector<std::int64_t>;
using Tensors = std::map<std::string, at::Tensor>;
using Paths = std::vector<std::filesystem::path>;

std::string bytes_of(const at::Tensor& tensor) {
  const at::Tensor packed = tensor.contiguous();
  return {static_cast<const char*>(packed.const_data_ptr()), packed.nbytes()};
}

void save(const std::filesystem::path& path, const Tensors& tensors) {
  std::vector<FileTensor> described;
  std::string data;
  for (const auto& [name, tensor] : tensors) {
    described.push_back({name, tensor.scalar_type(), tensor.sizes().vec()});
    data += bytes_of(tensor);
  }
  write_file(path, safetensors_header(described, {}) + data);
}

/// Row i of x is (i, -i), of y i * i as whole number, of t whether i is odd.
Tensors rows(std::int64_t first, std::int64_t count) {
  const at::Tensor i = torch::arange(first, first + count, torch::kLong);
  return {{"t", i.remainder(2).to(torch::kBool)},
          {"x", torch::stack({i, -i}, 1).to(torch::kFloat)},
          {"y", i * i}};
}

bool are_rows(const NamedBatch& batch, const Numbers& numbers) {
  const at::Tensor i = torch::tensor(numbers, torch::kLong);
  const bool same = batch.get("x").equal(torch::stack({i, -i}, 1).to(torch::kFloat)) &&
                    batch.get("y").equal(i * i) &&
                    batch.get("t").equal(i.remainder(2).to(torch::kBool));
  return same && batch.samples == numbers && batch.weight() == std::ssize(numbers);
}

TEST(TensorTableTest, GivesRowsInTheOrderInWhichTheyAreAskedFor) {
  const ScratchDirectory scratch;
  for (const std::int64_t count : {1, 7, 64, 65}) {
    save(scratch / "a.safetensors", rows(0, count));
    const TensorTable table({scratch / "a.safetensors"});
    EXPECT_EQ(table.size(), count);
    ASSERT_EQ(table.columns().size(), 3u);
    EXPECT_EQ(table.columns()[1].name, "x");
    EXPECT_EQ(table.columns()[1].type, at::kFloat);
    EXPECT_EQ(table.columns()[1].row_shape, Numbers{2});
    Numbers all(static_cast<std::size_t>(count));
    std::iota(all.begin(), all.end(), 0);
    EXPECT_TRUE(are_rows(table.get(all), all));
    const Numbers some = {count - 1, 0, count / 2, 0};
    EXPECT_TRUE(are_rows(table.get(some), some));
    for (const std::int64_t outside : {count, std::int64_t{-1}})
      EXPECT_THROW(table.get(Numbers{outside}), UsageError);
  }
}

TEST(TensorTableTest, AFileOfNoRowsIsATableOfNone) {
  const ScratchDirectory scratch;
  save(scratch / "a.safetensors", rows(0, 0));
  const TensorTable table({scratch / "a.safetensors"});
  EXPECT_EQ(table.size(), 0);
  EXPECT_TRUE(are_rows(table.get(Numbers{}), {}));
  EXPECT_THROW(batches(table, 2), UsageError);
}

TEST(TensorTableTest, RowsOfSeveralFilesFollowEachOther) {
  const ScratchDirectory scratch;
  save(scratch / "a.safetensors", rows(0, 5));
  save(scratch / "b.safetensors", rows(5, 0));
  save(scratch / "c.safetensors", rows(5, 1));
  save(scratch / "d.safetensors", rows(6, 7));
  const TensorTable table({scratch / "a.safetensors", scratch / "b.safetensors",
                           scratch / "c.safetensors", scratch / "d.safetensors"});
  EXPECT_EQ(table.size(), 13);
  const Numbers some = {12, 4, 5, 6, 0, 11};
  EXPECT_TRUE(are_rows(table.get(some), some));
}

TEST(TensorTableTest, TensorsMayLieInFilesOfTheirOwnAndOfSeveralKinds) {
  const ScratchDirectory scratch;
  const Tensors data = rows(0, 11);
  write_file(scratch / "x.npy", npy_bytes(npy_header("<f4", "(11, 2)"), bytes_of(data.at("x"))));
  write_file(scratch / "y.npy", npy_bytes(npy_header("<i8", "(11,)"), bytes_of(data.at("y"))));
  save(scratch / "t.safetensors", {{"t", data.at("t")}});
  const TensorTable table({scratch / "y.npy", scratch / "x.npy", scratch / "t.safetensors"});
  const Numbers some = {10, 3, 7};
  EXPECT_TRUE(are_rows(table.get(some), some));
}

TEST(TensorTableTest, OnlyTheNamedTensorsAreTakenWhereNamesAreGiven) {
  const ScratchDirectory scratch;
  Tensors data = rows(0, 4);
  data["mean"] = torch::tensor(3.0);
  data["other"] = torch::ones({9});
  const Paths files = {scratch / "a.safetensors"};
  save(files.front(), data);
  const TensorTable table(files, {.names = {"y", "x"}});
  EXPECT_EQ(table.size(), 4);
  EXPECT_EQ(table.get(Numbers{2}).tensors.size(), 2u);
  EXPECT_EQ(
      message_of<UsageError>([&] {
        TensorTable(files, {.names = {"x", "z"}});
      }),
      files.front().string() + " has no tensor 'z'; there are 'mean', 'other', 't', 'x', 'y'");
}

TEST(TensorTableTest, WhatDoesNotFitTogetherIsRefusedByName) {
  const ScratchDirectory scratch;
  const auto a = scratch / "a.safetensors";
  const auto b = scratch / "b.safetensors";
  const auto refusal = [](const Paths& files) {
    return message_of<DataError>([&] { TensorTable table(files); });
  };
  save(a, {{"x", torch::ones({3, 2})}, {"y", torch::ones({4})}});
  EXPECT_EQ(refusal({a}), a.string() + ": tensor 'y' has 4 rows, 'x' has 3; all must have as many");
  save(a, {{"x", torch::ones({3, 2})}});
  save(b, {{"y", torch::ones({4})}});
  EXPECT_EQ(refusal({a, b}), "tensor 'y' has 4 rows (" + b.string() + "), 'x' has 3 (" +
                                 a.string() + "); all must have as many");
  save(b, {{"x", torch::ones({3, 5})}});
  EXPECT_EQ(refusal({a, b}),
            b.string() + ": a row of tensor 'x' is Float [5], in " + a.string() + " Float [2]");
  save(b, {{"x", torch::ones({3, 2}, torch::kDouble)}});
  EXPECT_EQ(refusal({a, b}),
            b.string() + ": a row of tensor 'x' is Double [2], in " + a.string() + " Float [2]");
  save(a, {{"x", torch::tensor(1.0)}});
  EXPECT_NE(refusal({a}).find("tensor 'x' is a single number and has no rows"), std::string::npos);
  save(a, {{"x", torch::ones({7, 0})}});
  EXPECT_NE(refusal({a}).find("tensor 'x' is Float [7, 0], whose rows have no numbers"),
            std::string::npos);
  save(a, {});
  EXPECT_EQ(refusal({a}), a.string() + " holds no tensors");
  write_file(a, "damaged");
  EXPECT_TRUE(refusal({a}).starts_with(a.string() + " is damaged"));
  EXPECT_THROW(TensorTable({}), UsageError);
  EXPECT_THROW(TensorTable({scratch / "a.csv"}), UsageError);
  EXPECT_THROW(TensorTable({scratch / "missing.npy"}), IoError);
}

TEST(TensorTableTest, InputsAreTheFilesWithChecksums) {
  const ScratchDirectory scratch;
  const auto path = scratch / "a.safetensors";
  save(path, rows(0, 5));
  const TensorTable table({path});
  DataInput expected;
  add_content(expected, read_file(path));
  ASSERT_EQ(table.inputs().size(), 1u);
  EXPECT_EQ(table.inputs()[0].name, path.string());
  EXPECT_EQ(table.inputs()[0].content_text(), expected.content_text());
}

TEST(TensorTableTest, AFileThatIsCutWhileItIsInUseIsAnError) {
  const ScratchDirectory scratch;
  const auto path = scratch / "a.safetensors";
  save(path, rows(0, 5));
  const TensorTable table({path});
  std::filesystem::resize_file(path, 20);
  EXPECT_NE(message_of<IoError>([&] { table.get(Numbers{0}); }).find("has 20 now"),
            std::string::npos);
}

TEST(TensorTableTest, AFileLargerThanMemoryIsNotReadWhole) {
  const ScratchDirectory scratch;
  const auto path = scratch / "large.safetensors";
  constexpr std::int64_t kRows = std::int64_t{1} << 25;  // of a kibibyte: mostly holes of the file
  const std::string header = safetensors_header({{"x", at::kFloat, {kRows, 256}}}, {});
  write_file(path, header);
  std::filesystem::resize_file(path, header.size() + kRows * 1024);
  const std::int64_t before = testing::resident_bytes();
  const TensorTable table({path});
  const NamedBatch batch = table.get(Numbers{0, kRows / 2, kRows - 1});
  EXPECT_EQ(table.size(), kRows);
  EXPECT_EQ(batch.get("x").abs().sum().item<float>(), 0);
  if (testing::kMemoryIsMeasurable) {
    EXPECT_LT(testing::resident_bytes() - before, 64 << 20);
  }
}

TEST(TensorTableTest, IsCutIntoShuffledBatchesAsEveryDataSet) {
  const ScratchDirectory scratch;
  save(scratch / "a.safetensors", rows(0, 13));
  const TensorTable table({scratch / "a.safetensors"});
  Numbers seen;
  for (auto& feeds : batches(table, 2, {.batch_size = 3, .seed = 4})) {
    for (const NamedBatch& feed : feeds) {
      EXPECT_TRUE(are_rows(feed, feed.samples));
      seen.insert(seen.end(), feed.samples.begin(), feed.samples.end());
    }
  }
  Numbers sorted = seen;
  std::sort(sorted.begin(), sorted.end());
  ASSERT_EQ(sorted.size(), 13u);
  for (std::int64_t i = 0; i < 13; ++i) EXPECT_EQ(sorted[i], i);
  EXPECT_NE(seen, sorted);
}

}  // namespace tensor_table_test
}  // namespace pagoda
