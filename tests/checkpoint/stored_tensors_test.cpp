#include "checkpoint/stored_tensors.h"

#include <pagoda/base/error.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <torch/types.h>

#include "support/crafted_archive.h"
#include "support/tower_fixtures.h"

namespace pagoda {
namespace stored_tensors_test {

using testing::message_of;
using Shape = StoredTensors::Shape;

/// Twelve floats, 0 to 11, and five bytes.
std::string stored_bytes() {
  std::string floats;
  for (int i = 0; i < 12; ++i)
    floats += testing::little_endian(std::bit_cast<std::uint32_t>(static_cast<float>(i)), 4);
  return testing::zip_of({{"f/data/0", floats}, {"f/data/1", std::string("\1\0\2\1\1", 5)}});
}

struct Stored {
  const std::string bytes = stored_bytes();
  const ZipArchive archive{bytes, "the archive"};
  StoredTensors tensors{archive, "f", nullptr};
};

std::string failure_of(const std::function<void()>& work) { return message_of<DataError>(work); }

TEST(StoredTensorsTest, TensorsOfOneStorageShareItsMemory) {
  Stored stored;
  const auto storage = stored.tensors.storage(at::kFloat, "0", 12);
  const at::Tensor all = StoredTensors::tensor(storage, {0, {3, 4}, {4, 1}});
  EXPECT_TRUE(all.equal(torch::arange(12, torch::kFloat).reshape({3, 4})));
  const auto again = stored.tensors.storage(at::kFloat, "0", 12);
  const at::Tensor column = StoredTensors::tensor(again, {1, {3}, {4}});
  EXPECT_TRUE(column.equal(all.select(1, 1)));
  EXPECT_TRUE(column.is_alias_of(all));
  EXPECT_EQ(StoredTensors::tensor(storage, {12, {0, 7}, {7, 1}}).numel(), 0);
  EXPECT_EQ(StoredTensors::tensor(storage, {11, {}, {}}).item<float>(), 11);
}

TEST(StoredTensorsTest, AStorageHasExactlyItsRecordsBytes) {
  Stored stored;
  for (const std::int64_t elements :
       {std::int64_t{11}, std::int64_t{13}, std::int64_t{0}, std::int64_t{-1}, std::int64_t{-12},
        (std::int64_t{1} << 62) + 12, std::numeric_limits<std::int64_t>::max()}) {
    const std::string message =
        failure_of([&] { stored.tensors.storage(at::kFloat, "0", elements); });
    EXPECT_NE(message.find("'f/data/0' has 48 bytes"), std::string::npos) << elements << message;
  }
  EXPECT_NE(failure_of([&] { stored.tensors.storage(at::kFloat, "9", 1); }).find("'f/data/9'"),
            std::string::npos);
  stored.tensors.storage(at::kFloat, "0", 12);
  EXPECT_NE(failure_of([&] { stored.tensors.storage(at::kInt, "0", 12); }).find("different things"),
            std::string::npos);
}

// A bool of another value would be undefined behaviour wherever it is used.
TEST(StoredTensorsTest, TruthValuesAreZeroOrOne) {
  Stored stored;
  EXPECT_NE(failure_of([&] { stored.tensors.storage(at::kBool, "1", 5); }).find("truth values"),
            std::string::npos);
  EXPECT_EQ(StoredTensors::tensor(stored.tensors.storage(at::kByte, "1", 5), {2, {1}, {1}})
                .item<std::int64_t>(),
            2);
}

TEST(StoredTensorsTest, NoShapeLeadsOutOfTheStorage) {
  Stored stored;
  const auto storage = stored.tensors.storage(at::kFloat, "0", 12);
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const Shape shapes[] = {
      {0, {13}, {1}},
      {1, {12}, {1}},
      {13, {0}, {1}},
      {-1, {2}, {1}},
      {0, {-2}, {1}},
      {0, {2}, {-1}},
      {0, {2}, {12}},
      {0, {3, 4}, {1}},
      {0, {2, 2}, {most, 1}},
      {0, {3, 3}, {most / 2, most / 2}},
      {most, {2}, {1}},
      {0, {most, most, 0}, {1, 1, 1}},
      {0, {most, most}, {0, 0}},
      {0, {13}, {0}},  // more elements than the storage: a few bytes would stand for any number
      {0, std::vector<std::int64_t>(65, 1), std::vector<std::int64_t>(65, 1)},
  };
  for (const Shape& shape : shapes) {
    const std::string message = failure_of([&] { StoredTensors::tensor(storage, shape); });
    EXPECT_NE(message.find("does not fit its storage of 12 elements"), std::string::npos)
        << message;
  }
}

TEST(StoredTensorsTest, AlignedRecordsOfOwnedMemoryAreNotCopied) {
  const std::string name = "f/data/0";
  const auto bytes = [&](std::size_t padding) {
    return testing::zip_of({{std::string(padding, 'p'), ""}, {name, std::string(64, 'x')}});
  };
  // Two headers of 30 bytes and the name come before the content.
  const std::size_t aligned_padding = 3 * 64 - 60 - name.size();
  for (const std::size_t off : {0, 1, 4}) {
    const std::string archive_bytes = bytes(aligned_padding + off);
    const std::shared_ptr<char> memory(
        static_cast<char*>(::operator new (archive_bytes.size(), std::align_val_t{64})),
        [](char* start) { ::operator delete (start, std::align_val_t{64}); });
    std::copy(archive_bytes.begin(), archive_bytes.end(), memory.get());
    const ZipArchive archive({memory.get(), archive_bytes.size()}, "the archive");
    StoredTensors tensors(archive, "f", memory);
    const char* record = archive.find(name)->bytes.data();
    const auto storage = tensors.storage(at::kByte, "0", 64);
    EXPECT_EQ(storage.bytes.data() == record, off == 0) << off;
    EXPECT_TRUE(StoredTensors::tensor(storage, {0, {64}, {1}}).eq('x').all().item<bool>());
  }
}

TEST(StoredTensorsTest, ATensorKeepsTheMemoryAlive) {
  at::Tensor tensor;
  std::weak_ptr<const void> watched;
  {
    Stored stored;
    const auto owner = std::make_shared<const int>(1);
    watched = owner;
    const std::size_t record = 30 + 8;  // aligned by moving the whole archive
    const std::size_t size = stored.bytes.size();
    const std::shared_ptr<char> memory(
        static_cast<char*>(::operator new (64 + size, std::align_val_t{64})),
        [owner](char* start) { ::operator delete (start, std::align_val_t{64}); });
    char* start = memory.get() + 64 - record;
    std::copy(stored.bytes.begin(), stored.bytes.end(), start);
    const ZipArchive archive({start, size}, "the archive");
    StoredTensors tensors(archive, "f", memory);
    tensor = StoredTensors::tensor(tensors.storage(at::kFloat, "0", 12), {0, {12}, {1}});
    EXPECT_EQ(tensor.const_data_ptr(), start + record);
  }
  EXPECT_FALSE(watched.expired());
  EXPECT_TRUE(tensor.equal(torch::arange(12, torch::kFloat)));
  tensor.reset();
  EXPECT_TRUE(watched.expired());
}

}  // namespace stored_tensors_test
}  // namespace pagoda
