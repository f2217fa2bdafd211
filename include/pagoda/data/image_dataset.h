#pragma once

#include <pagoda/data/dataset.h>
#include <pagoda/data/image_records.h>

#include <cstdint>

namespace pagoda {

/// Which view of an image the model sees.
enum class ImageView {
  centre,     ///< the centre crop, for evaluation
  distorted,  ///< a random crop, flipped half of the time, with random brightness and contrast
  /// The centre crop, shifted by up to `shift` pixels at random, with the image reflected at its
  /// borders. Each image is flipped in every other epoch: half of them in even epochs, the other
  /// half in odd ones.
  shifted,
};

/// How the values of an image are normalised: which mean is subtracted from them, and which
/// standard deviation they are divided by.
enum class ImageScale {
  image,     ///< those of the image itself, over all its values; a uniform image becomes 0
  channels,  ///< those of each channel in CIFAR-10's training images
};

/// What a sample looks like.
struct ImageDatasetOptions {
  ImageView view = ImageView::centre;    ///< which view of an image the model sees
  int crop = 28;                         ///< height and width of the input, in pixels; at most 32
  int shift = 2;                         ///< for ImageView::shifted: pixels, at most 31
  ImageScale scale = ImageScale::image;  ///< how its values are normalised
  std::uint64_t seed = 0;                ///< seed of the distortions
};

/// A data set of image records: float inputs [N, 3, crop, crop] and int64 labels [N].
///
/// A distortion depends on seed, epoch and sample number only.
///
/// Threads: any number may call `get` at once.
/// Fails: UsageError when `crop` or `shift` is out of range.
class ImageDataset : public Dataset {
 public:
  ImageDataset(ImageRecords records, const ImageDatasetOptions& options);

  std::int64_t size() const override { return size_; }

  /// What all records were read from, including those that are not used.
  std::vector<DataInput> inputs() const override { return records_.inputs(); }
  /// How many records were read, including those that are not used.
  std::int64_t record_count() const { return records_.size(); }

  /// Uses only the first `count` samples, or all if there are fewer.
  void use_first(std::int64_t count) { size_ = std::min(count, records_.size()); }
  Batch get(std::span<const std::int64_t> samples, std::int64_t epoch) const override;

 private:
  ImageRecords records_;
  ImageDatasetOptions options_;
  std::int64_t size_;
};

}  // namespace pagoda
