#pragma once

#include <pagoda/data/batch.h>
#include <pagoda/params/layer.h>
#include <pagoda/train/scored.h>
#include <pagoda/train/step_options.h>

#include <cstdint>
#include <functional>
#include <vector>

#include <ATen/core/Generator.h>

namespace pagoda::app {

/// A model that can be cut into stages.
template <class Model>
concept NamesLayers = requires(Model& model) {
  model->layers();
};

/// A model and samples that are made up, to train it without data. The functions own what they use.
template <class Model, Feed F>
struct MadeUpTask {
  std::function<Model(double dropout)> model;
  /// So many samples for step `step`, drawn from a stream.
  std::function<F(std::int64_t samples, std::int64_t step, at::Generator& random)> feed;
  /// The samples of all of them, one after another.
  std::function<F(const std::vector<F>& feeds)> join;
  std::function<Scored(Model&, const F&)> score;
  /// What the first stage takes, and the score of what the last one gives; for NamesLayers.
  std::function<Tensors(const F&)> inputs = nullptr;
  std::function<Scored(Model&, const Tensors&, const F&)> score_outputs = nullptr;
  StepOptions step = {};  ///< of `pagoda bench`
};

/// A stream of random numbers for made-up samples.
at::Generator sample_stream(std::uint64_t seed);

/// `MadeUpTask::join` for batches.
Batch join_batches(const std::vector<Batch>& batches);

}  // namespace pagoda::app
