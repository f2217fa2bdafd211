#include "lenet5/lenet5_training.h"

#include <pagoda/cli/flag_adder.h>

#include "lenet5/image_report.h"
#include "lenet5/image_sheet.h"
#include "lenet5/lenet5_presets.h"

namespace pagoda::app {
namespace {

constexpr int kShownImages = 16;

Batches test_batches(const Dataset& test, TowerShare towers) {
  return batches(test, towers, {.batch_size = 200, .shuffle = false});
}

const LayeredLoss kLoss{classify, images_of, classify_outputs};

class LeNet5Task : public RunTask {
 public:
  LeNet5Task(const Run<LeNet5>& run, const ImageTask& images) : run_(run), images_(images) {}

  std::string name() const override { return "LeNet-5"; }
  std::string watched() const override { return "accuracy"; }
  Better better() const override { return Better::more; }
  DataRecord record() const override { return record_of(images_); }

  Validation validate() override {
    return {run_.evaluate<Batch>(test_batches(*images_.test, run_.share()), kLoss)};
  }

  void describe(EventWriter& events) override {
    const Picture sheet = first_images(*images_.train, kShownImages);
    events.image("training images", 0, sheet.view());
    events.graph(module_graph(run_.towers().module(0)));
  }

 private:
  const Run<LeNet5>& run_;
  const ImageTask& images_;
};

}  // namespace

RunOptions LeNet5Training::defaults() const {
  RunOptions options;
  options.optimizer.schedule = ScheduleKind::exponential;
  options.optimizer.l2 = 1e-4;
  options.optimizer.ema = 0.99;
  return options;
}

std::span<const Preset> LeNet5Training::presets() const { return lenet5_presets(); }

void LeNet5Training::add_flags(CLI::App& command) {
  FlagAdder add(command, "Model");
  add.option("--data", data_, "builtin, or a directory with CIFAR-10's binary files");
  add.option("--dropout", dropout_, "part of the hidden layer that is dropped")
      ->check(CLI::Range(0.0, 0.99));
}

RunSummary LeNet5Training::train(const RunOptions& options) {
  const ImageTask images = load_images(data_, options.seed);
  Run run(options, [dropout = dropout_] { return LeNet5(LeNet5Options{.dropout = dropout}); });
  BatchSource source(*images.train, options, run.share());
  LeNet5Task task(run, images);
  return run.train(source, kLoss, task);
}

void LeNet5Training::add_test_flags(CLI::App& command) {
  FlagAdder(command).option(
      "--data", test_data_,
      "builtin, or a directory with CIFAR-10's binary files (default: the run's)");
}

TestReport LeNet5Training::test(const StoredRun& run, const std::vector<Device>& devices,
                                World* world) {
  const ImageTask images = load_images(test_data_.value_or(data_), run.checkpoint.seed);
  auto towers =
      make_towers(devices, [] { return LeNet5(); }, {.precision = run.precision_on(devices)});
  load_weights(run, towers);
  return report_of(test_images(towers, *images.test, world), images.classes);
}

Evaluation test_lenet5(Towers<LeNet5>& towers, ModelStep<LeNet5>& step, const Dataset& test) {
  const AveragedParameters averaged(towers, step);
  return evaluate(towers, test_batches(test, towers.size()), classify);
}

}  // namespace pagoda::app
