#include "program/program_rows.h"

#include <pagoda/base/error.h>
#include <pagoda/data/image_records.h>

#include <ATen/Functions.h>
#include <gtest/gtest.h>

#include "support/scratch_directory.h"

namespace pagoda::app {
namespace program_rows_test {

using testing::ScratchDirectory;

void write_cifar(const ScratchDirectory& scratch) {
  for (const char* name : {"data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4",
                           "data_batch_5", "test_batch"})
    testing::write_file(scratch / (std::string(name) + ".bin"),
                        std::string(2 * kImageRecordBytes, '\3'));
}

TEST(ProgramRowsTest, ADirectoryHasImagesAndLabelsOfCifar10) {
  const ScratchDirectory scratch;
  write_cifar(scratch);
  const std::vector<std::string> directory{scratch.path().string()};
  const auto train = open_rows({directory, {"image", "label"}, RowsPart::train, 1});
  EXPECT_EQ(train->size(), 10);
  const auto test = open_rows({directory, {"image", "label"}, RowsPart::test, 1});
  EXPECT_EQ(test->size(), 2);
  const std::vector<std::int64_t> second{1};
  const NamedBatch batch = test->get(second, 0);
  EXPECT_EQ(batch.get("image").sizes(), (at::IntArrayRef{1, 3, 32, 32}));
  EXPECT_EQ(batch.get("label").item<std::int64_t>(), 3);
  EXPECT_THROW(open_rows({directory, {"x"}, RowsPart::train, 1}), UsageError);
}

TEST(ProgramRowsTest, NothingToReadIsTold) {
  EXPECT_THROW(open_rows({{}, {"x"}, RowsPart::train, 1}), UsageError);
  const ScratchDirectory scratch;
  EXPECT_THROW(open_rows({{scratch.path().string(), "more"}, {"x", "y"}, RowsPart::train, 1}),
               UsageError);
}

TEST(ProgramRowsTest, TextHasTokensAndThoseThatFollow) {
  const ScratchDirectory scratch;
  testing::write_file(scratch / "text.txt", "abcdef");
  RowsRequest request{{(scratch / "text.txt").string()},
                      {"tokens", "next"},
                      RowsPart::train,
                      1,
                      TextTokens{.tokens = "bytes", .length = 2}};
  const auto rows = open_rows(request);
  ASSERT_EQ(rows->size(), 3);
  const std::vector<std::int64_t> last{2};
  EXPECT_TRUE(
      at::equal(rows->get(last, 0).get("next"), at::tensor({'f', '\n'}, at::kLong).view({1, 2})));
  request.names = {"tokens"};
  EXPECT_EQ(open_rows(request)->get(last, 0).tensors.size(), 1u);
  request.names = {"tokens", "next", "more"};
  EXPECT_THROW(open_rows(request), UsageError);
}

TEST(ProgramRowsTest, WholeBatchesAreTheSameForAnyNumberOfTowersAndProcesses) {
  const ScratchDirectory scratch;
  testing::write_file(scratch / "text.txt", "abcdefghijklmn");  // with its end 15 rows
  const auto rows = open_rows({{(scratch / "text.txt").string()},
                               {"x"},
                               RowsPart::test,
                               1,
                               TextTokens{.tokens = "bytes", .length = 1}});
  for (const int towers : {1, 2, 3, 5}) {
    std::vector<std::int64_t> seen;
    for (auto& feeds : whole_batches(*rows, towers, 4)) {
      for (const NamedBatch& feed : feeds) {
        EXPECT_EQ(feed.weight(), 4);
        seen.insert(seen.end(), feed.samples.begin(), feed.samples.end());
      }
    }
    EXPECT_EQ(seen, (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})) << towers;
  }
  int steps = 0;
  for (auto& feeds : whole_batches(*rows, TowerShare(1, 1, 2), 4)) {
    EXPECT_EQ(feeds.size(), steps++ == 0 ? 1u : 0u);  // the third batch is the other process's
  }
  EXPECT_EQ(steps, 2);
}

}  // namespace program_rows_test
}  // namespace pagoda::app
