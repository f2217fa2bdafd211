#include "checkpoint/checkpoint_fields.h"

#include <pagoda/base/error.h>

#include <algorithm>
#include <concepts>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "checkpoint/pickle_file.h"
#include "support/checkpoints.h"
#include "support/scratch_directory.h"
#include "support/tower_fixtures.h"

namespace pagoda {
namespace checkpoint_fields_test {

using testing::differing_fields;
using testing::read_file;
using testing::ScratchDirectory;

using Names = std::vector<std::string>;

/// A value that is no field's default, another one for each number.
template <std::integral T>
void fill(T& field, int number) {
  field = static_cast<T>(100 + number);
}
void fill(double& field, int number) { field = 0.5 + number; }
void fill(std::optional<double>& field, int number) { field = -0.25 - number; }
void fill(std::string& field, int number) { field = "text " + std::to_string(number); }
void fill(at::Tensor& field, int number) { field = torch::full({2}, number, torch::kByte); }
void fill(std::vector<NamedTensor>& field, int number) {
  field = {{"tensor", torch::full({3}, number)}};
}

Checkpoint filled() {
  Checkpoint checkpoint;
  visit_fields(checkpoint,
               [number = 0](const char*, auto& field, Absent) mutable { fill(field, ++number); });
  return checkpoint;
}

Names names_of(const Checkpoint& checkpoint) {
  Names names;
  visit_fields(checkpoint, [&](const char* name, const auto&, Absent) { names.push_back(name); });
  return names;
}

TEST(CheckpointFieldsTest, EveryFieldComesBackFromAFile) {
  const ScratchDirectory scratch;
  const Checkpoint written = filled();
  ASSERT_EQ(differing_fields(written, Checkpoint{}), names_of(written));
  write_checkpoint(written, scratch / "c.pt");
  EXPECT_EQ(differing_fields(read_checkpoint(scratch / "c.pt"), written), Names{});
}

/// What lies between two neighbours is less than a field could be: padding at most.
TEST(CheckpointFieldsTest, EveryFieldOfTheStateIsInTheTable) {
  const Checkpoint checkpoint;
  const char* begin = reinterpret_cast<const char*>(&checkpoint.state);
  const char* end = begin + sizeof(RunState);
  std::vector<std::pair<const char*, const char*>> extents{{end, end}};
  visit_fields(checkpoint, [&](const char*, const auto& field, Absent) {
    const char* first = reinterpret_cast<const char*>(&field);
    if (first >= begin && first < end) extents.push_back({first, first + sizeof(field)});
  });
  std::sort(extents.begin(), extents.end());
  const char* covered = begin;
  for (const auto& [first, last] : extents) {
    EXPECT_LT(first - covered, static_cast<std::ptrdiff_t>(alignof(RunState)))
        << "a field at byte " << covered - begin << " of RunState has no line";
    covered = last;
  }
}

TEST(CheckpointFieldsTest, AFileOfBeforeAFieldHasItsDefaultAndOneWithoutAnOlderFieldIsRefused) {
  const ScratchDirectory scratch;
  const Checkpoint written = filled();
  write_checkpoint(written, scratch / "c.pt");
  const std::string bytes = read_file(scratch / "c.pt");
  visit_fields(written, [&](const char* name, const auto&, Absent absent) {
    const auto entries = torch::pickle_load({bytes.begin(), bytes.end()}).toGenericDict();
    ASSERT_EQ(entries.erase(name), 1u) << name;
    write_pickle(entries, scratch / "without.pt");
    if (absent != Absent::damage) {
      const Checkpoint read = read_checkpoint(scratch / "without.pt");
      EXPECT_EQ(differing_fields(read, written), Names{name});
      const Names from_default = differing_fields(read, Checkpoint{});
      EXPECT_EQ(std::count(from_default.begin(), from_default.end(), name), 0) << name;
    } else {
      const std::string message =
          testing::message_of<DataError>([&] { read_checkpoint(scratch / "without.pt"); });
      EXPECT_NE(message.find("it has no '" + std::string(name) + "'"), std::string::npos)
          << message;
    }
  });
}

/// The directory holds runs of earlier versions.
TEST(CheckpointFieldsTest, AnEarlierVersionsFileIsWrittenWithTheSameBytes) {
  const ScratchDirectory scratch;
  const std::filesystem::path runs = PAGODA_OLD_RUNS;
  const auto old = runs / "0.1-before-records" / "run" / "checkpoints" / "step-0000000002.pt";
  write_checkpoint(read_checkpoint(old), scratch / "again.pt");
  EXPECT_TRUE(read_file(scratch / "again.pt") == read_file(old));
}

}  // namespace checkpoint_fields_test
}  // namespace pagoda
