#include <pagoda/base/error.h>
#include <pagoda/data/image_dataset.h>

#include <string>

#include <ATen/ops/empty.h>

#include "base/random_streams.h"
#include "data/image_distortion.h"

namespace pagoda {

ImageDataset::ImageDataset(ImageRecords records, const ImageDatasetOptions& options)
    : records_(std::move(records)), options_(options), size_(records_.size()) {
  if (options.crop < 1 || options.crop > kImageSide) {
    throw UsageError("a crop of " + std::to_string(options.crop) +
                     " pixels does not fit into images of " + std::to_string(kImageSide) +
                     "; it must be 1 to " + std::to_string(kImageSide));
  }
}

Batch ImageDataset::get(std::span<const std::int64_t> samples, std::int64_t epoch) const {
  const auto count = static_cast<std::int64_t>(samples.size());
  const std::int64_t crop = options_.crop;
  const RandomStreams streams(options_.seed);
  Batch batch{.input = at::empty({count, kImageChannels, crop, crop}, at::kFloat),
              .target = at::empty({count}, at::kLong),
              .samples = {samples.begin(), samples.end()}};
  float* input = batch.input.mutable_data_ptr<float>();
  auto* target = batch.target.mutable_data_ptr<std::int64_t>();
  for (const std::int64_t sample : samples) {
    const Distortion distortion =
        options_.view == ImageView::centre
            ? centred(options_.crop)
            : random_distortion(options_.crop, streams.sample(epoch, sample));
    distort(records_.pixels(sample), distortion, options_.crop, input);
    input += kImageChannels * crop * crop;
    *target++ = records_.label(sample);
  }
  return batch;
}

}  // namespace pagoda
