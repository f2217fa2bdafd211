#include "model/made_up_task.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/cat.h>

namespace pagoda::app {

at::Generator sample_stream(std::uint64_t seed) {
  return at::make_generator<at::CPUGeneratorImpl>(seed);
}

Batch join_batches(const std::vector<Batch>& batches) {
  std::vector<at::Tensor> inputs;
  std::vector<at::Tensor> targets;
  for (const Batch& batch : batches) {
    inputs.push_back(batch.input);
    targets.push_back(batch.target);
  }
  return {.input = at::cat(inputs), .target = at::cat(targets)};
}

}  // namespace pagoda::app
