#pragma once

#include <pagoda/data/feed_stream.h>
#include <pagoda/events/event_writer.h>
#include <pagoda/pipeline/staged_towers.h>
#include <pagoda/train/async_step.h>
#include <pagoda/train/data_record.h>
#include <pagoda/train/evaluate.h>
#include <pagoda/train/loop.h>
#include <pagoda/train/sync_step.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "draw/picture.h"
#include "flags/train_flags.h"
#include "terminal/console.h"

namespace pagoda::app {

/// Runs one step; a wrapper does something around it, such as recording a trace.
using StepWrapper = std::function<StepResult(const std::function<StepResult()>& step)>;

/// A run's data from some position on, and the steps on it.
struct TrainingData {
  std::int64_t steps_per_epoch = 0;
  std::int64_t steps_left = 0;  ///< of the epoch that it begins in
  std::string step_text = {};   ///< what a step has, such as "64 samples a tower, 128 a step"
  std::function<Loop(const StepWrapper& around, const LoopOptions& options)> loop = nullptr;
  std::function<double()> waited_seconds = nullptr;
};

/// The loop of a stream; the rest of TrainingData is left to the caller.
template <class F, class Step>
TrainingData training_data(const std::shared_ptr<FeedStream<F>>& stream, Step step) {
  return {.loop =
              [stream, step](const StepWrapper& around, const LoopOptions& options) {
                return Loop(
                    [step, around](const StepFeeds<F>& feeds) {
                      return around([&] { return step(feeds); });
                    },
                    *stream, options);
              },
          .waited_seconds = [stream] { return stream->waited_seconds(); }};
}

/// What a test found, and lines and pictures, by name, that a person wants to see.
struct TestResult {
  Evaluation evaluation;
  std::vector<std::string> notes = {};
  std::vector<std::pair<std::string, Picture>> pictures = {};
};

enum class Better { more, less };

/// What a model brings to its run; everything else is the same for all models.
struct TrainingTask {
  std::string model;                    ///< its name for people
  std::string unit = "samples";         ///< what a feed's weight counts
  std::vector<std::string> about = {};  ///< lines for the log's beginning
  /// What it is trained on; not called for a run without a directory.
  std::function<DataRecord()> record;
  TowerGroup& towers;
  Step& step;
  const Stages* stages = nullptr;  ///< where the towers have any
  /// The feeds from a position on, for so many epochs.
  std::function<TrainingData(const DataPosition& start, std::int64_t epochs)> data;
  std::function<TestResult()> test;
  std::string watched;  ///< metric of the test that decides which checkpoint is the best
  Better better = Better::more;
  /// Adds to the directory of a run before its first step; not called for a run without one.
  std::function<void(const std::filesystem::path& directory)> prepare = nullptr;
  /// Writes what TensorBoard shows of a new run besides numbers.
  std::function<void(EventWriter&)> describe;
};

inline const Stages* stages_of(const TowerGroup&) { return nullptr; }
template <class Model>
const Stages* stages_of(const StagedTowers<Model>& towers) {
  return &towers.stages();
}

/// How the log is written: text or JSON.
Console::Format console_format(const TrainFlags& flags);

/// The options of the step that the flags ask for.
StepOptions step_options(const TrainFlags& flags);

/// The step that the flags ask for: a synchronous or an asynchronous one.
template <class Model>
std::unique_ptr<ModelStep<Model>> make_step(Towers<Model>& towers,
                                            const OptimizerOptions& optimizer,
                                            const StepOptions& options, const TrainFlags& flags) {
  if (const auto async = flags.async_options())
    return std::make_unique<AsyncStep<Model>>(towers, optimizer, options, *async);
  return std::make_unique<SyncStep<Model>>(towers, optimizer, options);
}

struct TrainingSummary {
  const char* end = "finished";                   ///< why it ended
  int exit_code = 0;                              ///< 130 and 143 after a signal
  int towers = 0;                                 ///< that it ran on
  std::string unit = "samples";                   ///< of `samples`
  std::int64_t steps = 0;                         ///< of the whole run
  std::int64_t skipped = 0;                       ///< steps of this call whose loss was not finite
  double samples = 0;                             ///< of this call
  double seconds = 0;                             ///< of this call, tests and checkpoints included
  double waited = 0;                              ///< seconds without data
  double stalled = 0;                             ///< seconds in which checkpoints were copied
  double loss = 0;                                ///< of the last step
  std::vector<Device> devices = {};               ///< of the towers, and of all their stages
  std::vector<MemoryUse> memory = {};             ///< of these devices, at the end
  std::optional<Evaluation> test = std::nullopt;  ///< the last one

  double samples_per_second() const { return seconds > 0 ? samples / seconds : 0; }
};

/// A whole run, assembled from step, batches, loop and hooks: goes on where the directory's newest
/// checkpoint stands, logs, tests, saves, traces, and ends by steps, time, signal or early
/// stopping. `config` and the task's record are kept with the run and must be the same when it goes
/// on.
///
/// Threads: the coordinating thread of the towers.
/// Fails: UsageError when the flags contradict each other or the directory holds another run;
/// DataError when its data has changed or its checkpoint is of another model; IoError when
/// something cannot be written.
TrainingSummary train(const TrainFlags& flags, const std::string& config, TrainingTask task);

}  // namespace pagoda::app
