// Runs that die and go on, through pagoda::Run, end as runs that were left alone: on the same towers
// bit for bit, on other numbers of towers as far as sums in another order can.

#include <pagoda/run/run.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "support/checkpoints.h"
#include "support/golden.h"
#include "support/run_fixtures.h"
#include "support/scratch_directory.h"
#include "support/small_models.h"
#include "support/staged_models.h"

namespace pagoda {
namespace run_resume_test {

using testing::DeepMlp;
using testing::in_double;
using testing::MeanSquare;
using testing::Mlp;
using testing::newest_checkpoint;
using testing::Noisy;
using testing::samples;
using testing::ScratchDirectory;

using Names = std::vector<std::string>;

struct Death : std::runtime_error {
  Death() : std::runtime_error("dead") {}
};

constexpr std::int64_t kNever = -1;

/// Ends the run by an exception after this step, before the step is saved.
template <class Model>
void die_after(pagoda::Run<Model>& run, std::int64_t step) {
  run.every(every_steps(1), [step](const StepResult&, RunState& state) {
    if (state.step == step) throw Death();
  });
}

/// A kind of run: trains as the options say, or until it dies.
struct Kind {
  std::string name;
  std::function<void(const RunOptions& options, std::int64_t dies_after)> train;
  /// LibTorch's optimizers write the state of parameters in the order of their addresses.
  bool has_ordered_state = true;
};

Mlp make_mlp() { return in_double(Mlp()); }

template <class Model>
RunSummary train_on_samples(pagoda::Run<Model>& run, std::int64_t dies_after) {
  die_after(run, dies_after);
  return run.train(samples(17, 0, at::kDouble), samples(5, 100, at::kDouble), MeanSquare{});
}

/// Dropout, BatchNorm, a moving average, and a rate that falls when the loss stalls.
void train_noisy(RunOptions options, std::int64_t dies_after) {
  options.optimizer.ema = 0.9;
  options.valid_every = every_steps(1);
  options.lr_stall_factor = 0.5;
  options.lr_stall_tests = 1;
  pagoda::Run run(options, [] { return Noisy(); });
  train_on_samples(run, dies_after);
}

/// Rates, decay and freezing by name, and a schedule.
void train_by_rules(RunOptions options, std::int64_t dies_after) {
  options.optimizer.optimizer = OptimizerKind::adamw;
  options.optimizer.schedule = ScheduleKind::cosine;
  options.optimizer.lr_decay_steps = 9;
  options.optimizer.lr = 0.02;
  options.optimizer.ema = 0.5;
  pagoda::Run run(options, make_mlp);
  run.step_options().parameter_rules = {{.names = "*.bias", .weight_decay = 0},
                                        {.names = "hidden.*", .rate_factor = 0.25},
                                        {.names = "hidden.bias", .frozen = true}};
  train_on_samples(run, dies_after);
}

/// Two groups of LibTorch's, whose rates a schedule scales.
void train_by_groups(const RunOptions& options, std::int64_t dies_after) {
  pagoda::Run run(options, make_mlp);
  const auto all = run.towers().parameters();
  std::vector<torch::optim::OptimizerParamGroup> groups;
  for (const std::size_t first : {0, 2}) {
    groups.emplace_back(std::vector<at::Tensor>{all[first], all[first + 1]},
                        std::make_unique<torch::optim::AdamOptions>(
                            torch::optim::AdamOptions(first == 0 ? 0.02 : 0.002)));
  }
  torch::optim::Adam adam(groups, torch::optim::AdamOptions(123));
  run.use(adam);
  run.step_options().learning_rate = CosineDecay{.base = 0.02, .steps = 9};
  train_on_samples(run, dies_after);
}

/// Descends by its mean gradient so far: a class of the user's, with state of its own.
class MeanDescent final : public torch::optim::Optimizer {
 public:
  explicit MeanDescent(const std::vector<at::Tensor>& parameters)
      : Optimizer(parameters, std::make_unique<torch::optim::SGDOptions>(0.05)) {
    for (const auto& parameter : parameters) sums_.push_back(torch::zeros_like(parameter));
  }

  at::Tensor step(LossClosure /*closure*/ = nullptr) override {
    const torch::NoGradGuard no_grad;
    ++count_;
    for (const auto& group : param_groups()) {
      for (std::size_t i = 0; i < sums_.size(); ++i) {
        const at::Tensor& parameter = group.params()[i];
        sums_[i] += parameter.grad();
        parameter.sub_(sums_[i], group.options().get_lr() / static_cast<double>(count_));
      }
    }
    return {};
  }

  void save(torch::serialize::OutputArchive& archive) const override {
    archive.write("count", c10::IValue(count_));
    for (std::size_t i = 0; i < sums_.size(); ++i)
      archive.write("sum" + std::to_string(i), sums_[i]);
  }

  void load(torch::serialize::InputArchive& archive) override {
    c10::IValue count;
    archive.read("count", count);
    count_ = count.toInt();
    for (std::size_t i = 0; i < sums_.size(); ++i)
      archive.read("sum" + std::to_string(i), sums_[i]);
  }

 private:
  std::int64_t count_ = 0;
  std::vector<at::Tensor> sums_;
};

void train_by_own_optimizer(const RunOptions& options, std::int64_t dies_after) {
  pagoda::Run run(options, make_mlp);
  MeanDescent optimizer(run.towers().parameters());
  run.use(optimizer);
  train_on_samples(run, dies_after);
}

/// Validates by a formula of the run's own, from which the best is found.
void train_on_own_feeds(RunOptions options, std::int64_t dies_after) {
  options.valid_every = every_steps(1);
  pagoda::Run run(options, make_mlp);
  die_after(run, dies_after);
  testing::RowFeeds feeds;
  testing::ScriptedTask task(std::vector<double>(8, 1.0));
  run.train(
      feeds,
      [](Mlp& model, const testing::RowFeed& feed) { return model(feed.numbers).square().mean(); },
      task);
}

/// One tower of two stages.
void train_in_stages(RunOptions options, std::int64_t dies_after) {
  options.stages.cut.stages = 2;
  options.stages.micro_batches = 3;
  pagoda::Run run(options, testing::make_deep_mlp);
  die_after(run, dies_after);
  const auto inputs = [](const Batch& batch) { return batch.input; };
  const auto outputs = [](DeepMlp&, const Tensors& values, const Batch& batch) {
    return torch::mse_loss(values[0], batch.target);
  };
  run.train(samples(17, 0, at::kDouble), samples(5, 100, at::kDouble),
            LayeredLoss{MeanSquare{}, inputs, outputs});
}

/// Those whose result does not depend on which tower computes what.
std::vector<Kind> kinds_for_any_towers() {
  return {{"ParameterRules", train_by_rules},
          {"TorchGroups", train_by_groups, /*has_ordered_state=*/false},
          {"OwnOptimizer", train_by_own_optimizer},
          {"OwnFeeds", train_on_own_feeds}};
}

std::vector<Kind> all_kinds() {
  std::vector<Kind> kinds = kinds_for_any_towers();
  kinds.push_back({"Noisy", train_noisy});
  kinds.push_back({"Stages", train_in_stages});
  return kinds;
}

void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }

std::string name_of(const ::testing::TestParamInfo<Kind>& info) { return info.param.name; }

constexpr std::int64_t kSteps = 7;  // of epochs of 3

class RunResumeTest : public ::testing::TestWithParam<Kind> {};
INSTANTIATE_TEST_SUITE_P(Kinds, RunResumeTest, ::testing::ValuesIn(all_kinds()), name_of);

/// It dies before there is a checkpoint (they are saved every two steps), right before one, and
/// after one; then its end comes by the number of steps, which is raised.
TEST_P(RunResumeTest, ARunThatDiedAndWasLengthenedHasTheBitsOfOneThatWasLeftAlone) {
  const ScratchDirectory scratch;
  const auto& train = GetParam().train;
  train(testing::small_run(scratch / "whole", kSteps), kNever);
  for (const std::int64_t step : {1, 4, 5})
    EXPECT_THROW(train(testing::small_run(scratch / "parts", kSteps), step), Death) << step;
  train(testing::small_run(scratch / "parts", 6), kNever);
  EXPECT_EQ(newest_checkpoint(scratch / "parts").state.step, 6);
  train(testing::small_run(scratch / "parts", kSteps), kNever);
  Names differing = testing::differing_fields(newest_checkpoint(scratch / "parts"),
                                              newest_checkpoint(scratch / "whole"));
  if (!GetParam().has_ordered_state) std::erase(differing, "torch_optimizer");
  EXPECT_EQ(differing, Names{});
}

/// A run that is asked to stop after a step at which no checkpoint is due (one is every two steps, and
/// where a validation after an epoch of 3 is the best) saves one more. It has the others that a run
/// has which was left alone, and in the end only those.
TEST(StoppedRunTest, HasTheSameCheckpointsInTheEnd) {
  const ScratchDirectory scratch;
  const auto train = [&](const char* name, std::int64_t stops_after) {
    RunOptions options = testing::small_run(scratch / name, kSteps);
    options.keep_last = 2;
    pagoda::Run run(options, make_mlp);
    run.every(every_steps(1), [stops_after](const StepResult&, RunState& state) {
      if (state.step == stops_after) std::raise(SIGTERM);
    });
    return train_on_samples(run, kNever).exit_code;
  };
  const auto checkpoints = [&](const char* name) {
    std::map<std::string, std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(scratch / name / "checkpoints"))
      found[entry.path().filename().string()] = testing::read_file(entry.path());
    return found;
  };
  const auto names = [&](const char* name) {
    Names found;
    for (const auto& [file, content] : checkpoints(name)) found.push_back(file);
    return found;
  };
  EXPECT_EQ(train("whole", kNever), 0);
  EXPECT_EQ(train("stopped", 1), 128 + SIGTERM);
  EXPECT_EQ(names("stopped"), Names{"step-0000000001.stopped.pt"});
  EXPECT_EQ(train("stopped", 5), 128 + SIGTERM);
  EXPECT_EQ(names("stopped"), (Names{"best.pt", "step-0000000003.pt", "step-0000000004.pt",
                                     "step-0000000005.stopped.pt"}));
  EXPECT_EQ(train("stopped", kNever), 0);
  EXPECT_EQ(checkpoints("stopped"), checkpoints("whole"));
}

class OtherTowersTest : public ::testing::TestWithParam<Kind> {};
INSTANTIATE_TEST_SUITE_P(Kinds, OtherTowersTest, ::testing::ValuesIn(kinds_for_any_towers()),
                         name_of);

double largest_difference(const std::vector<NamedTensor>& a, const std::vector<NamedTensor>& b) {
  EXPECT_EQ(differences(a, b), "");
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    largest = std::max(largest, (a[i].tensor - b[i].tensor).abs().max().item<double>());
  return largest;
}

/// A step has the same samples however many towers share them, so that only the order of sums
/// differs. Where the run stands is the same exactly: it counts samples, not feeds.
TEST_P(OtherTowersTest, AGlobalBatchTrainsTheSameWhateverTowersTakeOver) {
  const ScratchDirectory scratch;
  const auto options = [&](const char* out, std::int64_t steps, const char* devices) {
    RunOptions run = testing::small_run(scratch / out, steps);
    run.global_batch_size = 6;
    run.devices.devices = devices;
    return run;
  };
  const auto& train = GetParam().train;
  train(options("whole", kSteps, "2"), kNever);
  EXPECT_THROW(train(options("parts", kSteps, "2"), 3), Death);
  train(options("parts", 4, "1"), kNever);
  train(options("parts", kSteps, "3"), kNever);
  const Checkpoint found = newest_checkpoint(scratch / "parts");
  const Checkpoint expected = newest_checkpoint(scratch / "whole");
  EXPECT_LT(largest_difference(found.model, expected.model), testing::kGoldenTolerance);
  EXPECT_LT(largest_difference(found.average, expected.average), testing::kGoldenTolerance);
  EXPECT_LT(largest_difference(found.optimizer, expected.optimizer), testing::kGoldenTolerance);
  EXPECT_EQ(found.towers, 3);
  EXPECT_EQ(found.state.step, expected.state.step);
  EXPECT_EQ(found.state.position, expected.state.position);
  EXPECT_EQ(found.state.samples, expected.state.samples);
  EXPECT_EQ(found.state.best_step, expected.state.best_step);
  ASSERT_TRUE(found.state.best && expected.state.best);
  EXPECT_NEAR(*found.state.best, *expected.state.best, testing::kGoldenTolerance);
}

}  // namespace run_resume_test
}  // namespace pagoda
