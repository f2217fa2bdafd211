#pragma once

#include <pagoda/data/image_dataset.h>
#include <pagoda/models/lenet5.h>
#include <pagoda/train/data_record.h>
#include <pagoda/train/scored.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace pagoda::app {

/// Images to train LeNet-5 on and to test it with.
struct ImageTask {
  std::unique_ptr<ImageDataset> train;
  std::unique_ptr<ImageDataset> test;
  std::vector<std::string> classes;  ///< names of the labels
};

/// `data` is "builtin", or a directory with CIFAR-10's binary files (data_batch_1.bin …
/// test_batch.bin, and batches.meta.txt with the names, if there). Fails: IoError or DataError that
/// names the file.
ImageTask load_images(const std::string& data, std::uint64_t seed);

/// What the images were read from.
DataRecord record_of(const ImageTask& images);

/// Cross-entropy.
at::Tensor classification_loss(const at::Tensor& logits, const at::Tensor& labels);

/// Cross-entropy and accuracy of a batch.
Scored classify(LeNet5& model, const Batch& batch);

/// The same of what a pipeline's last layer gave, and what its first layer takes.
Scored classify_outputs(LeNet5& model, const Tensors& outputs, const Batch& batch);
at::Tensor images_of(const Batch& batch);

}  // namespace pagoda::app
