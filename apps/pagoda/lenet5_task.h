#pragma once

#include <pagoda/data/image_dataset.h>
#include <pagoda/models/lenet5.h>
#include <pagoda/train/scored.h>

#include <cstdint>
#include <memory>
#include <string>

namespace pagoda::app {

/// Images to train LeNet-5 on and to test it with.
struct ImageTask {
  std::unique_ptr<ImageDataset> train;
  std::unique_ptr<ImageDataset> test;
};

/// `data` is "builtin", or a directory with CIFAR-10's binary files (data_batch_1.bin …
/// test_batch.bin). Fails: IoError or DataError that names the file.
ImageTask load_images(const std::string& data, std::uint64_t seed);

/// Cross-entropy and accuracy of a batch.
Scored classify(LeNet5& model, const Batch& batch);

}  // namespace pagoda::app
