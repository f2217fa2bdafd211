#pragma once

// Small whole runs, and what they leave behind.

#include <pagoda/checkpoint/checkpoint_store.h>
#include <pagoda/run/run.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/formula_data.h"

namespace pagoda::testing {

inline TensorDataset samples(std::int64_t count, std::int64_t first = 0,
                             at::ScalarType type = at::kFloat) {
  const Batch all = vector_feed(first, count);
  return TensorDataset(all.input.to(type), all.target.to(type));
}

/// A run that with 17 samples an epoch has steps of 6, 6 and 5 samples, on two towers of 3.
inline RunOptions small_run(const std::filesystem::path& out, std::int64_t max_steps) {
  RunOptions options{.batch_size = 3, .max_steps = max_steps, .out = out};
  options.devices.devices = "2";
  options.optimizer = {.schedule = ScheduleKind::exponential, .l2 = 1e-4, .ema = 0.99};
  options.log_format = LogFormat::json;
  options.save_every = every_steps(2);
  return options;
}

inline Checkpoint newest_checkpoint(const std::filesystem::path& out) {
  return *CheckpointStore(out / "checkpoints").load_newest([](const std::string&) {});
}

/// Feeds that are not batches: one row of numbers.
struct RowFeed {
  at::Tensor numbers = {};
  double weight() const { return static_cast<double>(numbers.size(0)); }
  std::vector<std::int64_t> sample_numbers() const { return {}; }
  template <class Change>
  RowFeed with_tensors(Change change) const {
    return {change(numbers)};
  }
};

/// Epochs of 3 steps of two feeds.
class RowFeeds : public FeedSource<RowFeed> {
 public:
  std::shared_ptr<FeedStream<RowFeed>> stream(const DataPosition& start,
                                              std::int64_t epochs) override {
    const std::int64_t first = 3 * start.epoch + start.consumed / 2;
    const std::int64_t end = 3 * (start.epoch + epochs);
    const auto make = [first, end](std::int64_t number) -> std::optional<StepFeeds<RowFeed>> {
      const std::int64_t step = first + number;
      if (step >= end) return std::nullopt;
      StepFeeds<RowFeed> feeds;
      for (int i = 0; i < 2; ++i) feeds.push_back({waves({1, kInputs}, 2 * step + i, 0.7)});
      const std::int64_t done = step + 1;
      feeds.after = {.epoch = done / 3, .consumed = 2 * (done % 3)};
      return feeds;
    };
    return std::make_shared<FeedStream<RowFeed>>(make, 1, 2);
  }
  std::int64_t steps_from(const DataPosition& position) const override {
    return 3 - position.consumed / 2;
  }
  std::string about() const override { return "two rows a step"; }
  std::string unit() const override { return "rows"; }
};

/// Its validations have these losses, one after another.
class ScriptedTask : public RunTask {
 public:
  explicit ScriptedTask(std::vector<double> losses) : losses_(std::move(losses)) {}

  std::string name() const override { return "scripted"; }
  Validation validate() override {
    return {Evaluation{.loss = losses_.at(next_++), .weight = 1}, {"a note"}};
  }

 private:
  const std::vector<double> losses_;
  std::size_t next_ = 0;
};

}  // namespace pagoda::testing
