#include <pagoda/base/error.h>
#include <pagoda/data/image_dataset.h>

#include <string>

#include <ATen/ops/empty.h>

#include "base/random_streams.h"
#include "data/image_distortion.h"

namespace pagoda {
namespace {

Distortion distortion_of(const ImageDatasetOptions& options, std::int64_t epoch,
                         std::int64_t sample) {
  const RandomStreams streams(options.seed);
  switch (options.view) {
    case ImageView::centre:
      break;
    case ImageView::distorted:
      return random_distortion(options.crop, streams.sample(epoch, sample));
    case ImageView::shifted:
      return random_shift(options.crop, options.shift, streams, epoch, sample);
  }
  return centred(options.crop);
}

}  // namespace

ImageDataset::ImageDataset(ImageRecords records, const ImageDatasetOptions& options)
    : records_(std::move(records)), options_(options), size_(records_.size()) {
  if (options.shift < 0 || options.shift >= kImageSide) {
    throw UsageError("images of " + std::to_string(kImageSide) + " pixels cannot be shifted by " +
                     std::to_string(options.shift) + "; it must be 0 to " +
                     std::to_string(kImageSide - 1));
  }
  if (options.crop < 1 || options.crop > kImageSide) {
    throw UsageError("a crop of " + std::to_string(options.crop) +
                     " pixels does not fit into images of " + std::to_string(kImageSide) +
                     "; it must be 1 to " + std::to_string(kImageSide));
  }
}

Batch ImageDataset::get(std::span<const std::int64_t> samples, std::int64_t epoch) const {
  const auto count = static_cast<std::int64_t>(samples.size());
  const std::int64_t crop = options_.crop;
  Batch batch{.input = at::empty({count, kImageChannels, crop, crop}, at::kFloat),
              .target = at::empty({count}, at::kLong),
              .samples = {samples.begin(), samples.end()}};
  float* input = batch.input.mutable_data_ptr<float>();
  auto* target = batch.target.mutable_data_ptr<std::int64_t>();
  const auto values = static_cast<std::size_t>(kImageChannels * crop * crop);
  for (const std::int64_t sample : samples) {
    distort(records_.pixels(sample), distortion_of(options_, epoch, sample), options_.crop, input);
    const std::span image(input, values);
    options_.scale == ImageScale::image ? scale_image(image) : scale_channels(image);
    input += values;
    *target++ = records_.label(sample);
  }
  return batch;
}

}  // namespace pagoda
