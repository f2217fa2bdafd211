#pragma once

#include <pagoda/base/error.h>
#include <pagoda/data/dataset.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <ATen/ops/stack.h>

namespace pagoda {

/// Adapts a data set of `torch::data` whose examples are tensors (`torch::data::Example<>`),
/// whether it stacks them itself (`map(Stack<>())`) or not.
///
/// As in LibTorch's own loader, each thread that reads samples at the same time gets its own copy
/// of the data set, so its `get` need not be thread-safe; the copies share the tensors in it.
///
/// Threads: any number may call `get` at once. Owns: the copies.
/// Fails: UsageError when the data set does not know its size.
/// Example:
///     TorchDataset data(torch::data::datasets::MNIST("data").map(Normalize<>(0.13, 0.31)));
///     for (auto& feeds : batches(data, towers.size())) step.run(feeds, loss);
template <class Source>
class TorchDataset : public Dataset {
 public:
  explicit TorchDataset(Source source) : original_(std::move(source)) {
    const auto size = original_.size();
    if (!size) {
      throw UsageError("the data set does not know its size; towers need one with a fixed size");
    }
    size_ = static_cast<std::int64_t>(*size);
  }

  std::int64_t size() const override { return size_; }

  Batch get(std::span<const std::int64_t> samples, std::int64_t /*epoch*/) const override {
    std::vector<std::size_t> numbers(samples.begin(), samples.end());
    std::unique_ptr<Source> copy = take();
    Batch batch = joined(copy->get_batch(numbers));
    give_back(std::move(copy));
    return batch;
  }

 private:
  template <class Examples>
  static Batch joined(const Examples& examples) {
    if constexpr (requires { examples.data; }) {
      return {.input = examples.data, .target = examples.target};  // stacked by the data set
    } else {
      std::vector<at::Tensor> inputs;
      std::vector<at::Tensor> targets;
      for (const auto& example : examples) {
        inputs.push_back(example.data);
        targets.push_back(example.target);
      }
      return {.input = at::stack(inputs), .target = at::stack(targets)};
    }
  }

  std::unique_ptr<Source> take() const {
    const std::lock_guard lock(mutex_);
    if (copies_.empty()) return std::make_unique<Source>(original_);
    auto copy = std::move(copies_.back());
    copies_.pop_back();
    return copy;
  }

  void give_back(std::unique_ptr<Source> copy) const {
    const std::lock_guard lock(mutex_);
    copies_.push_back(std::move(copy));
  }

  // Constant after construction.
  const Source original_;
  std::int64_t size_ = 0;

  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Source>> copies_;  // not in use; guarded by mutex_
};

}  // namespace pagoda
