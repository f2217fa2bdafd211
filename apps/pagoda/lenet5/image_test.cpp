#include "lenet5/image_test.h"

#include <pagoda/run/world_choice.h>
#include <pagoda/train/evaluate.h>

#include <memory>
#include <mutex>
#include <numeric>

#include <ATen/ops/from_blob.h>

namespace pagoda::app {

std::int64_t ImageTest::class_total(int label) const {
  const auto& row = confusion[static_cast<std::size_t>(label)];
  return std::accumulate(row.begin(), row.end(), std::int64_t{0});
}

std::int64_t ImageTest::total() const {
  std::int64_t sum = 0;
  for (int label = 0; label < kImageClasses; ++label) sum += class_total(label);
  return sum;
}

double ImageTest::accuracy() const {
  std::int64_t right = 0;
  for (std::size_t label = 0; label < confusion.size(); ++label) right += confusion[label][label];
  return static_cast<double>(right) / static_cast<double>(total());
}

double ImageTest::class_accuracy(int label) const {
  const auto index = static_cast<std::size_t>(label);
  return static_cast<double>(confusion[index][index]) / static_cast<double>(class_total(label));
}

namespace {

void sum_counts(World& world, ImageTest& test) {
  const at::Tensor counts = at::from_blob(test.confusion.data(), {kImageClasses, kImageClasses},
                                          at::TensorOptions(at::kLong));
  world.sum(counts);
}

}  // namespace

ImageTest test_images(Towers<LeNet5>& towers, const Dataset& images, World* world) {
  struct Counted {
    std::mutex mutex;  // towers count at the same time
    ImageTest test;    // guarded by mutex
  };
  const auto counted = std::make_shared<Counted>();  // a late tower may still count
  Evaluation evaluation = evaluate(
      towers,
      batches(images, tower_share(world, towers.size()), {.batch_size = 200, .shuffle = false}),
      [counted](LeNet5& model, const Batch& batch) {
        const at::Tensor logits = model(batch.input);
        const at::Tensor guesses = logits.argmax(1).cpu();
        const at::Tensor labels = batch.target.cpu();
        const auto* guess = guesses.const_data_ptr<std::int64_t>();
        const auto* label = labels.const_data_ptr<std::int64_t>();
        const std::lock_guard lock(counted->mutex);
        for (std::int64_t i = 0; i < labels.size(0); ++i) {
          ++counted->test
                .confusion[static_cast<std::size_t>(label[i])][static_cast<std::size_t>(guess[i])];
        }
        return classification_loss(logits, batch.target);
      });
  ImageTest test = counted->test;
  if (world != nullptr) {
    evaluation = evaluation_of_all(*world, evaluation);
    sum_counts(*world, test);
  }
  test.loss = evaluation.loss;
  return test;
}

}  // namespace pagoda::app
