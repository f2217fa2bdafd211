#include <pagoda/base/error.h>
#include <pagoda/data/builtin_images.h>
#include <pagoda/data/image_dataset.h>

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace pagoda {
namespace image_dataset_test {

using Numbers = std::vector<std::int64_t>;

constexpr std::int64_t kImages = 12;

ImageRecords images() { return ImageRecords(draw_builtin_images(3, 0, kImages), "test images"); }

/// The pixels of record `i` as [3, 32, 32], in double.
at::Tensor pixels_of(const ImageRecords& records, std::int64_t i) {
  const auto pixels = records.pixels(i);
  return torch::tensor(std::vector<double>(pixels.begin(), pixels.end()), torch::kDouble)
      .reshape({3, 32, 32});
}

TEST(ImageDatasetTest, TheCentreViewIsTheStandardisedCentre) {
  const ImageRecords records = images();
  for (const int crop : {32, 28, 7}) {
    const ImageDataset data(records, {.crop = crop});
    EXPECT_EQ(data.size(), kImages);
    const Numbers samples{11, 0, 4};
    const Batch batch = data.get(samples, 0);
    ASSERT_EQ(batch.input.sizes(), (Numbers{3, 3, crop, crop}));
    EXPECT_EQ(batch.input.scalar_type(), torch::kFloat);
    EXPECT_EQ(batch.samples, samples);
    EXPECT_TRUE(batch.target.equal(torch::tensor({1, 0, 4}, torch::kLong)));
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const int border = (32 - crop) / 2;
      const at::Tensor part =
          pixels_of(records, samples[i]).narrow(1, border, crop).narrow(2, border, crop);
      const at::Tensor expected = (part - part.mean()) / part.std(/*unbiased=*/false);
      const at::Tensor found = batch.input[static_cast<std::int64_t>(i)].to(torch::kDouble);
      EXPECT_LT((found - expected).abs().max().item<double>(), 1e-5);
    }
  }
}

TEST(ImageDatasetTest, TheCentreViewKnowsNeitherSeedNorEpoch) {
  const Numbers all{0, 1, 2, 3};
  const at::Tensor expected = ImageDataset(images(), {.seed = 1}).get(all, 0).input;
  EXPECT_TRUE(ImageDataset(images(), {.seed = 2}).get(all, 5).input.equal(expected));
}

TEST(ImageDatasetTest, ADistortionDependsOnSeedEpochAndSampleOnly) {
  const auto view = [](std::uint64_t seed, std::int64_t epoch, const Numbers& samples) {
    return ImageDataset(images(), {.view = ImageView::distorted, .seed = seed})
        .get(samples, epoch)
        .input;
  };
  const at::Tensor all = view(1, 0, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  EXPECT_TRUE(view(1, 0, {7}).equal(all.narrow(0, 7, 1)));
  EXPECT_TRUE(view(1, 0, {5, 7, 5})[2].equal(all[5]));
  EXPECT_TRUE(view(1, 0, {0, 1, 2}).equal(all.narrow(0, 0, 3)));
  for (std::int64_t i = 0; i < kImages; ++i) {
    EXPECT_FALSE(view(1, 1, {i})[0].equal(all[i])) << "another epoch, sample " << i;
    EXPECT_FALSE(view(2, 0, {i})[0].equal(all[i])) << "another seed, sample " << i;
  }
}

TEST(ImageDatasetTest, SamplesAreDistortedEachInItsOwnWay) {
  std::vector<std::uint8_t> bytes = draw_builtin_images(3, 0, 1);
  const std::vector<std::uint8_t> one = bytes;
  bytes.insert(bytes.end(), one.begin(), one.end());
  const ImageDataset twins(ImageRecords(bytes, "twins"), {.view = ImageView::distorted});
  const Batch batch = twins.get(Numbers{0, 1}, 0);
  EXPECT_FALSE(batch.input[0].equal(batch.input[1]));
}

TEST(ImageDatasetTest, AFlatImageIsZero) {
  const ImageDataset data(ImageRecords(std::vector<std::uint8_t>(kImageRecordBytes, 9), "flat"),
                          {});
  EXPECT_EQ(data.get(Numbers{0}, 0).input.abs().max().item<float>(), 0);
}

TEST(ImageDatasetTest, AShiftOfNothingIsTheCentreOrItsMirrorImage) {
  const ImageDataset centre(images(), {.crop = 32, .scale = ImageScale::channels});
  const ImageDataset still(
      images(),
      {.view = ImageView::shifted, .crop = 32, .shift = 0, .scale = ImageScale::channels});
  for (std::int64_t i = 0; i < kImages; ++i) {
    const at::Tensor plain = centre.get(Numbers{i}, 0).input;
    const at::Tensor even = still.get(Numbers{i}, 0).input;
    const at::Tensor odd = still.get(Numbers{i}, 1).input;
    EXPECT_TRUE(even.equal(plain) ? odd.equal(plain.flip(3)) : odd.equal(plain)) << i;
    EXPECT_TRUE(even.equal(plain) || even.equal(plain.flip(3))) << i;
  }
}

TEST(ImageDatasetTest, RefusesACropOrShiftThatDoesNotFit) {
  for (const int crop : {0, -1, 33})
    EXPECT_THROW(ImageDataset(images(), {.crop = crop}), UsageError);
  for (const int shift : {-1, 32})
    EXPECT_THROW(ImageDataset(images(), {.shift = shift}), UsageError);
}

}  // namespace image_dataset_test
}  // namespace pagoda
