#include "bench/lenet5_bench.h"

#include <pagoda/data/batch.h>

#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>

#include "bench/tower_bench.h"
#include "image/lenet5_task.h"

namespace pagoda::app {

std::unique_ptr<Bench> make_lenet5_bench(const std::vector<Device>& devices,
                                         const BenchOptions& options) {
  return std::make_unique<TowerBench<LeNet5, Batch>>(
      devices, options,
      BenchTask<LeNet5, Batch>{
          .model = [] { return LeNet5(); },
          .feed =
              [](std::int64_t samples, std::int64_t) {
                return Batch{.input = at::randn({samples, 3, 28, 28}),
                             .target = at::randint(10, {samples}, at::kLong)};
              },
          .score =
              [](LeNet5& model, const Batch& batch) {
                return Scored{.loss = classification_loss(model(batch.input), batch.target)};
              },
          .inputs = [](const Batch& batch) { return Tensors{images_of(batch)}; },
          .score_outputs = classify_outputs});
}

}  // namespace pagoda::app
