#pragma once

#include <pagoda/data/dataset.h>
#include <pagoda/data/image_records.h>

#include <cstdint>

namespace pagoda {

/// How an image becomes input.
enum class ImageView {
  centre,     ///< the centre crop, for evaluation
  distorted,  ///< a random crop, flipped half of the time, with random brightness and contrast
  /// The centre crop moved by up to `shift` pixels, the image mirrored at its borders, and flipped in
  /// every other epoch: half of the images in the even ones, the others in the odd ones.
  shifted,
};

/// What the values of an image are divided by, after a mean was taken from them.
enum class ImageScale {
  image,     ///< every image has mean 0 and deviation 1 over its values; a flat one becomes 0
  channels,  ///< mean and deviation of each channel are those of CIFAR-10's training images
};

/// What a sample looks like.
struct ImageDatasetOptions {
  ImageView view = ImageView::centre;    ///< what of an image the model sees
  int crop = 28;                         ///< height and width of the input, in pixels; at most 32
  int shift = 2;                         ///< pixels, at most 31
  ImageScale scale = ImageScale::image;  ///< what is done to its values
  std::uint64_t seed = 0;                ///< of the distortions
};

/// Image records as float input [N, 3, crop, crop] and labels [N].
///
/// A distortion depends on (seed, epoch, sample number) only.
///
/// Threads: any number may call `get` at once.
/// Fails: UsageError when crop or shift do not fit.
class ImageDataset : public Dataset {
 public:
  ImageDataset(ImageRecords records, const ImageDatasetOptions& options);

  std::int64_t size() const override { return size_; }

  /// What all records were read from, and how many there are, whether they are used or not.
  std::vector<DataInput> inputs() const override { return records_.inputs(); }
  /// How many records were read, whether they are used or not.
  std::int64_t record_count() const { return records_.size(); }

  /// Leaves only the first `count` samples (or all, if there are fewer).
  void use_first(std::int64_t count) { size_ = std::min(count, records_.size()); }
  Batch get(std::span<const std::int64_t> samples, std::int64_t epoch) const override;

 private:
  ImageRecords records_;
  ImageDatasetOptions options_;
  std::int64_t size_;
};

}  // namespace pagoda
