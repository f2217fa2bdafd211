#include "program/program_rows.h"

#include <pagoda/base/error.h>
#include <pagoda/data/image_records.h>

#include <ATen/core/Tensor.h>
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
  const auto train = open_rows(directory, {"image", "label"}, RowsPart::train, 1);
  EXPECT_EQ(train->size(), 10);
  const auto test = open_rows(directory, {"image", "label"}, RowsPart::test, 1);
  EXPECT_EQ(test->size(), 2);
  const std::vector<std::int64_t> second{1};
  const NamedBatch batch = test->get(second, 0);
  EXPECT_EQ(batch.get("image").sizes(), (at::IntArrayRef{1, 3, 32, 32}));
  EXPECT_EQ(batch.get("label").item<std::int64_t>(), 3);
  EXPECT_THROW(open_rows(directory, {"x"}, RowsPart::train, 1), UsageError);
}

TEST(ProgramRowsTest, NothingToReadIsTold) {
  EXPECT_THROW(open_rows({}, {"x"}, RowsPart::train, 1), UsageError);
  const ScratchDirectory scratch;
  EXPECT_THROW(open_rows({scratch.path().string(), "more"}, {"x", "y"}, RowsPart::train, 1),
               UsageError);
}

}  // namespace program_rows_test
}  // namespace pagoda::app
