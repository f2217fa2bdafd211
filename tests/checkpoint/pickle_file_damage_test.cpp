// A file that was changed in any way is refused, or gives the values that were written; one whose
// checksums were made right again may give others, but never leads out of its memory.

#include <pagoda/base/error.h>
#include <pagoda/checkpoint/checkpoint.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "base/random_streams.h"
#include "base/zip_archive.h"
#include "checkpoint/pickle_file.h"
#include "support/checkpoints.h"
#include "support/crafted_archive.h"
#include "support/scratch_directory.h"

namespace pagoda {
namespace pickle_file_damage_test {

using testing::ArchiveEntries;

/// Equal, tensors by their bits; reads every element of `a`.
bool same(const PickleValue& a, const PickleValue& b) {
  if (a.content.index() != b.content.index()) return false;
  if (const auto* tensor = a.as<at::Tensor>()) {
    const auto& other = *b.as<at::Tensor>();
    return tensor->scalar_type() == other.scalar_type() && tensor->equal(other);
  }
  const auto same_parts = [](const auto& x, const auto& y, const auto& same_part) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), same_part);
  };
  if (const auto* list = a.as<PickleValue::List>())
    return same_parts(*list, *b.as<PickleValue::List>(), same);
  if (const auto* dict = a.as<PickleValue::Dict>()) {
    return same_parts(*dict, *b.as<PickleValue::Dict>(), [](const auto& x, const auto& y) {
      return x.key == y.key && same(x.value, y.value);
    });
  }
  if (const auto* number = a.as<double>()) return *number == *b.as<double>();
  if (const auto* number = a.as<std::int64_t>()) return *number == *b.as<std::int64_t>();
  if (const auto* text = a.as<std::string>()) return *text == *b.as<std::string>();
  return a.as<bool>() == nullptr || *a.as<bool>() == *b.as<bool>();
}

/// Flips a bit, cuts, swaps two pieces, puts bytes in, takes some out, or repeats a piece.
std::string changed(std::string bytes, SplitMix64& random) {
  const auto below = [&](std::size_t end) { return random.below(std::max<std::size_t>(end, 1)); };
  const std::size_t at = below(bytes.size());
  const std::size_t length = std::min<std::size_t>(1 + below(16), bytes.size() - at);
  switch (random.below(6)) {
    case 0:
      if (!bytes.empty()) bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8)));
      break;
    case 1:
      bytes.resize(at);
      break;
    case 2: {
      const std::size_t other = below(bytes.size() - length + 1);
      std::swap_ranges(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                       bytes.begin() + static_cast<std::ptrdiff_t>(at + length),
                       bytes.begin() + static_cast<std::ptrdiff_t>(other));
      break;
    }
    case 3:
      bytes.insert(at, length, static_cast<char>(random.below(256)));
      break;
    case 4:
      bytes.erase(at, length);
      break;
    default:
      bytes.insert(below(bytes.size()), bytes.substr(at, length));
  }
  return bytes;
}

std::string checkpoint_bytes() {
  const testing::ScratchDirectory scratch;
  write_checkpoint(testing::checkpoint_of(7), scratch / "c.pt");
  return testing::read_file(scratch / "c.pt");
}

/// Nothing when it was refused with its name.
std::optional<PickleValue> read(const std::string& bytes) {
  try {
    return read_pickle(bytes, "c.pt");
  } catch (const DataError& error) {
    EXPECT_EQ(std::string(error.what()).find("c.pt"), 0u) << error.what();
    return std::nullopt;
  }
}

TEST(PickleFileDamageTest, NoChangeGivesOtherValues) {
  const std::string good = checkpoint_bytes();
  const PickleValue expected = *read(good);
  SplitMix64 random(1);
  int refused = 0;
  for (int i = 0; i < 1000; ++i) {
    const auto value = read(changed(good, random));
    refused += !value;
    ASSERT_TRUE(!value || same(*value, expected)) << "change " << i;
  }
  EXPECT_GT(refused, 700);
}

TEST(PickleFileDamageTest, WithRightChecksumsNothingLeadsOutOfTheFile) {
  const std::string good = checkpoint_bytes();
  const ZipArchive archive(good, "c.pt");
  ArchiveEntries entries;
  for (const auto& [name, bytes] : archive.records()) entries.emplace_back(name, bytes);
  SplitMix64 random(2);
  int refused = 0;
  for (int i = 0; i < 2000; ++i) {
    ArchiveEntries changed_entries = entries;
    for (auto& [name, content] : changed_entries) {
      if (name.ends_with("data.pkl") || random.below(4) == 0) content = changed(content, random);
    }
    const auto value = read(testing::zip_of(changed_entries));
    refused += !value;
    if (value) same(*value, *value);  // reads all elements
  }
  EXPECT_GT(refused, 1000);
}

}  // namespace pickle_file_damage_test
}  // namespace pagoda
