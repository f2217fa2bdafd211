#pragma once

#include <pagoda/data/dataset.h>
#include <pagoda/data/image_records.h>

#include <cstdint>

namespace pagoda {

/// How an image becomes input.
enum class ImageView {
  centre,     ///< the centre crop, for evaluation
  distorted,  ///< a random crop, flipped half of the time, with random brightness and contrast
};

struct ImageDatasetOptions {
  ImageView view = ImageView::centre;
  int crop = 28;           ///< height and width of the input, in pixels; at most 32
  std::uint64_t seed = 0;  ///< of the distortions
};

/// Image records as float input [N, 3, crop, crop] and labels [N].
///
/// Every image is standardised by itself: mean 0 and deviation 1 over its pixels (a flat image
/// becomes 0). A distortion depends on (seed, epoch, sample number) only.
///
/// Threads: any number may call `get` at once.
/// Fails: UsageError when the crop does not fit.
class ImageDataset : public Dataset {
 public:
  ImageDataset(ImageRecords records, const ImageDatasetOptions& options);

  std::int64_t size() const override { return size_; }

  /// What all records were read from, and how many there are, whether they are used or not.
  std::vector<DataInput> inputs() const { return records_.inputs(); }
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
