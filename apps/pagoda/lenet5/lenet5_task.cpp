#include "lenet5/lenet5_task.h"

#include <pagoda/base/error.h>
#include <pagoda/base/whole_file.h>
#include <pagoda/data/builtin_images.h>

#include <filesystem>
#include <sstream>

#include <torch/nn/functional/loss.h>

namespace pagoda::app {
namespace {

constexpr std::uint64_t kBuiltinSeed = 1;  // the data are the same whatever the run's seed
constexpr std::int64_t kBuiltinTrain = 10'000;
constexpr std::int64_t kBuiltinTest = 2'000;

ImageRecords builtin(std::int64_t first, std::int64_t count) {
  return ImageRecords(draw_builtin_images(kBuiltinSeed, first, count), "built-in images");
}

ImageTask make_task(ImageRecords train, ImageRecords test, ImageView training_view,
                    std::uint64_t seed, std::vector<std::string> classes) {
  return {std::make_unique<ImageDataset>(std::move(train),
                                         ImageDatasetOptions{.view = training_view, .seed = seed}),
          std::make_unique<ImageDataset>(std::move(test), ImageDatasetOptions{}),
          std::move(classes)};
}

std::vector<std::string> builtin_classes() {
  std::vector<std::string> names;
  for (int label = 0; label < kImageClasses; ++label) names.emplace_back(builtin_class_name(label));
  return names;
}

/// One name a line; numbers take the place of missing ones.
std::vector<std::string> read_classes(const std::filesystem::path& file) {
  std::vector<std::string> names;
  std::istringstream lines(read_file_if_any(file).value_or(""));
  for (std::string line; names.size() < kImageClasses && std::getline(lines, line);) {
    if (!line.empty()) names.push_back(line);
  }
  while (names.size() < kImageClasses) names.push_back(std::to_string(names.size()));
  return names;
}

}  // namespace

ImageTask load_images(const std::string& data, std::uint64_t seed) {
  if (data == "builtin") {
    return make_task(builtin(0, kBuiltinTrain), builtin(kBuiltinTrain, kBuiltinTest),
                     ImageView::centre, seed, builtin_classes());
  }
  const std::filesystem::path directory(data);
  if (std::error_code ignored; !std::filesystem::is_directory(directory, ignored)) {
    throw IoError("cannot read data from " + data +
                  ": no such directory; --data takes builtin, or a directory with " +
                  "data_batch_1.bin to data_batch_5.bin and test_batch.bin");
  }
  std::vector<std::filesystem::path> files;
  for (int i = 1; i <= 5; ++i)
    files.push_back(directory / ("data_batch_" + std::to_string(i) + ".bin"));
  return make_task(ImageRecords::read(files), ImageRecords::read({directory / "test_batch.bin"}),
                   ImageView::distorted, seed, read_classes(directory / "batches.meta.txt"));
}

DataRecord record_of(const ImageTask& images) {
  DataRecord record{.counts = {{"train-samples", images.train->record_count()},
                               {"test-samples", images.test->record_count()}}};
  record.add("train", images.train->inputs());
  record.add("test", images.test->inputs());
  return record;
}

at::Tensor classification_loss(const at::Tensor& logits, const at::Tensor& labels) {
  return torch::nn::functional::cross_entropy(logits, labels);
}

Scored classify(LeNet5& model, const Batch& batch) {
  return classify_outputs(model, {model(batch.input)}, batch);
}

Scored classify_outputs(LeNet5& /*model*/, const Tensors& outputs, const Batch& batch) {
  const at::Tensor& logits = outputs.at(0);
  const at::Tensor right = logits.detach().argmax(1).eq(batch.target).to(at::kDouble).mean();
  return {.loss = classification_loss(logits, batch.target), .metrics = {{"accuracy", right}}};
}

at::Tensor images_of(const Batch& batch) { return batch.input; }

}  // namespace pagoda::app
