#include "lenet5/lenet5_model.h"

#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>

#include "lenet5/lenet5_training.h"
#include "model/made_up_measuring.h"

namespace pagoda::app {
namespace {

Batch random_images(std::int64_t samples, std::int64_t /*step*/, at::Generator& random) {
  const LeNet5Options model;
  return {.input = at::randn({samples, model.channels, model.image_size, model.image_size}, random),
          .target = at::randint(model.classes, {samples}, random, at::kLong)};
}

class LeNet5Measuring : public MadeUpMeasuring<LeNet5, Batch> {
  MadeUpTask<LeNet5, Batch> task() const override {
    return {.model = [](double dropout) { return LeNet5(LeNet5Options{.dropout = dropout}); },
            .feed = random_images,
            .join = join_batches,
            .score =
                [](LeNet5& model, const Batch& batch) {
                  return Scored{.loss = classification_loss(model(batch.input), batch.target)};
                },
            .inputs = [](const Batch& batch) { return Tensors{images_of(batch)}; },
            .score_outputs = classify_outputs};
  }
};

}  // namespace

KnownModel lenet5_model() {
  return {.name = "lenet5",
          .about = "LeNet-5 on 32x32 colour images",
          .training = [] { return std::make_unique<LeNet5Training>(); },
          .measuring = [] { return std::make_unique<LeNet5Measuring>(); }};
}

}  // namespace pagoda::app
