#include "program/program_training.h"

#include <pagoda/base/error.h>
#include <pagoda/base/number_text.h>
#include <pagoda/base/whole_file.h>
#include <pagoda/cli/flag_adder.h>
#include <pagoda/run/run.h>

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "program/program_rows.h"

namespace pagoda::app {
namespace {

constexpr std::int64_t kTestRows = 200;

BatchesOf<NamedBatch> test_batches(const Rows& rows, TowerShare towers) {
  return batches(rows, towers, {.batch_size = kTestRows, .shuffle = false});
}

DataInput program_record(const std::string& file) {
  DataInput input{.name = file};
  add_content(input, read_whole_file(file));
  return input;
}

/// The loss in both of its forms, with and without stages.
auto layered(const ProgramLoss& loss) {
  return LayeredLoss{loss, [loss](const NamedBatch& batch) { return loss.inputs(batch); },
                     [loss](ExportedModel&, const Tensors& outputs, const NamedBatch& batch) {
                       return loss.score(outputs, batch);
                     }};
}

class ProgramTask : public RunTask {
 public:
  ProgramTask(const Run<ExportedModel>& run, const Rows& train, const Rows& test,
              const ProgramLoss& loss, std::string file)
      : run_(run), train_(train), test_(test), loss_(loss), file_(std::move(file)) {}

  std::string name() const override { return std::filesystem::path(file_).stem().string(); }

  DataRecord record() const override {
    DataRecord record{.counts = {{"train-samples", train_.size()}, {"test-samples", test_.size()}}};
    record.add("program", {program_record(file_)});
    record.add("train", train_.inputs());
    record.add("test", test_.inputs());
    return record;
  }

  Validation validate() override {
    return {run_.evaluate<NamedBatch>(test_batches(test_, run_.share()), layered(loss_))};
  }

  void describe(EventWriter& events) override {
    events.graph(module_graph(run_.towers().module(0)));
  }

 private:
  const Run<ExportedModel>& run_;
  const Rows& train_;
  const Rows& test_;
  const ProgramLoss& loss_;
  const std::string file_;
};

/// Says what does not fit before anything is built.
void check_first_rows(const Rows& rows, const ExportedProgram& program, const ProgramLoss& loss,
                      std::int64_t count) {
  std::vector<std::int64_t> first(static_cast<std::size_t>(std::min(count, rows.size())));
  std::iota(first.begin(), first.end(), 0);
  loss.check(program, rows.get(first, 0));
}

std::string evaluation_text(const Evaluation& found) {
  std::string text = "loss " + number_text(found.loss);
  for (const auto& [name, value] : found.metrics) text += ", " + name + " " + number_text(value);
  return text;
}

PredictionLoss loss_named(const std::string& name) {
  if (name == "mse") return PredictionLoss::mse;
  if (name == "bce") return PredictionLoss::bce;
  return name == "nll" ? PredictionLoss::nll : PredictionLoss::cross_entropy;
}

}  // namespace

void ProgramTraining::add_flags(CLI::App& command) {
  FlagAdder add(command, "Model");
  add.option("FILE,--program", file_, "the exported program, FILE.pt2");
  add.list("--data", data_,
           "rows to train on: .safetensors, .npz or .npy files with tensors of the names of the "
           "program's inputs, or a directory with CIFAR-10's binary files");
  add.list("--valid", valid_, "rows to validate on; default for CIFAR-10: its test images");
  add.word("--loss", loss_, {"program", "cross-entropy", "mse", "bce", "nll"},
           "program: it returns its loss; otherwise the loss of the predictions that it returns");
  add.option("--label-smoothing", label_smoothing_, "of --loss cross-entropy and bce")
      ->check(CLI::Range(0.0, 0.99));
  add.option("--target", target_, "the tensor that predictions are compared with");
  add.list(
      "--cut", cuts_,
      "module before whose first operator the program is cut, for --stages; once for each cut");
  add.list("--library", libraries_, "shared library with operators that the program calls");
}

ExportedProgram ProgramTraining::load() const {
  if (file_.empty()) throw UsageError("which program? pagoda train program FILE.pt2 --data FILE");
  ProgramOptions options{.operator_namespaces = {}, .cut_before = cuts_};
  for (const std::string& library : libraries_) {
    for (const std::string& name : load_operator_library(library))
      options.operator_namespaces.push_back(name);
  }
  ExportedProgram program(file_, options);
  if (const std::string reason = program.no_evaluation(); !reason.empty()) {
    throw UsageError(file_ + " can be trained, but not validated: " + reason +
                     "; put a second program for evaluation beside it in the file: "
                     "package_pt2(path, exported_programs={\"train\": …, \"evaluate\": …})");
  }
  return program;
}

ProgramLoss ProgramTraining::loss_of(const ExportedProgram& program) const {
  if (loss_ == "program") {
    if (label_smoothing_ > 0)
      throw UsageError(
          "--label-smoothing needs --loss cross-entropy or bce: the program has its own");
    return {program, std::nullopt, ""};
  }
  return {program,
          PredictionLossOptions{.loss = loss_named(loss_), .label_smoothing = label_smoothing_},
          target_};
}

RunSummary ProgramTraining::train(const RunOptions& options) {
  if (options.stages.is_staged() && cuts_.empty())
    throw UsageError("a program in stages needs to know where to cut it; give --cut MODULE");
  const ExportedProgram program = load();
  const ProgramLoss loss = loss_of(program);
  const auto data = open_rows(data_, loss.names(), RowsPart::train, options.seed);
  const auto valid = open_rows(
      valid_.empty() && data_.size() == 1 && std::filesystem::is_directory(data_.front()) ? data_
                                                                                          : valid_,
      loss.names(), RowsPart::test, options.seed);
  check_first_rows(*data, program, loss, options.batch_size);
  check_first_rows(*valid, program, loss, kTestRows);
  Run run(options, [program] { return ExportedModel(program); });
  BatchSourceOf<NamedBatch> source(*data, options, run.share());
  ProgramTask task(run, *data, *valid, loss, file_);
  return run.train(source, layered(loss), task);
}

void ProgramTraining::add_test_flags(CLI::App& command) {
  FlagAdder(command).option("--data", test_data_,
                            "a file with the rows to test on (default: the run's --valid)");
}

TestReport ProgramTraining::test(const StoredRun& run, const std::vector<Device>& devices,
                                 World* world) {
  const ExportedProgram program = load();
  const ProgramLoss loss = loss_of(program);
  const std::vector<std::string> own = valid_.empty() ? data_ : valid_;
  const auto rows = open_rows(test_data_.empty() ? own : std::vector<std::string>{test_data_},
                              loss.names(), RowsPart::test, run.checkpoint.seed);
  check_first_rows(*rows, program, loss, kTestRows);
  auto towers = make_towers(devices, [program] { return ExportedModel(program); },
                            {.precision = run.precision_on(devices)});
  load_weights(run, towers);
  const TowerShare share = tower_share(world, towers.size());
  Evaluation found = evaluate(towers, FeedStream<NamedBatch>(test_batches(*rows, share)), loss);
  if (world != nullptr) found = evaluation_of_all(*world, found);
  return {.text = evaluation_text(found), .members = [found](JsonWriter& json) {
            json.key("loss").value(found.loss);
            for (const auto& [name, value] : found.metrics) json.key(name).value(value);
          }};
}

}  // namespace pagoda::app
