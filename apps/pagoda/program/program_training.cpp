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

/// The rows that a program takes at once, where it was exported for just so many.
std::optional<std::int64_t> fixed_rows(const ExportedProgram& program) {
  for (const auto& sizes : program.input_sizes()) {
    if (!sizes.empty() && sizes.front() == 0)
      throw DataError("the program was exported for batches of 0 rows; export it with an example");
    if (!sizes.empty() && sizes.front() > 0) return sizes.front();
  }
  return std::nullopt;
}

FeedStream<NamedBatch> test_batches(const Rows& rows, TowerShare towers,
                                    std::optional<std::int64_t> batch_rows) {
  if (batch_rows) return whole_batches(rows, towers, *batch_rows);
  return batches(rows, towers, {.batch_size = kTestRows, .shuffle = false});
}

/// What is not tested on, where batches must be whole; empty where there is nothing.
std::string left_out_text(const Rows& rows, std::optional<std::int64_t> batch_rows) {
  const std::int64_t rest = batch_rows ? rows.size() % *batch_rows : 0;
  if (rest == 0) return "";
  return std::to_string(rest) + " of " + std::to_string(rows.size()) +
         " rows to validate on are left out: the program takes " + std::to_string(*batch_rows) +
         " at a time";
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
              const ProgramLoss& loss, std::string file, std::optional<std::int64_t> batch_rows)
      : run_(run),
        train_(train),
        test_(test),
        loss_(loss),
        file_(std::move(file)),
        batch_rows_(batch_rows) {}

  std::string name() const override { return std::filesystem::path(file_).stem().string(); }

  DataRecord record() const override {
    DataRecord record{.counts = {{"train-samples", train_.size()}, {"test-samples", test_.size()}}};
    record.add("program", {program_record(file_)});
    record.add("train", train_.inputs());
    record.add("test", test_.inputs());
    return record;
  }

  std::vector<std::string> about() const override {
    const std::string text = left_out_text(test_, batch_rows_);
    return text.empty() ? std::vector<std::string>{} : std::vector{text};
  }

  Validation validate() override {
    return {
        run_.evaluate<NamedBatch>(test_batches(test_, run_.share(), batch_rows_), layered(loss_))};
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
  const std::optional<std::int64_t> batch_rows_;  // that the program takes at once
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
  add.option("FILE,--program", file_, "the exported program, .pt2 (default: none)");
  add.list("--data", data_,
           "rows to train on: .safetensors, .npz or .npy files with tensors of the names of the "
           "program's inputs, a directory with CIFAR-10's binary files, or text (--text) "
           "(default: none)");
  add.list("--valid", valid_, "rows to validate on; default for CIFAR-10: its test images");
  add.option(
      "--text", text_,
      "the files are text, whose tokens are the program's first input and the tokens that "
      "follow them the second: bytes, or the file of a SentencePiece model (default: no text)");
  add.count("--text-length", text_length_,
            "tokens in a row of text (default: what the program was exported for)");
  add.word("--loss", loss_, {"program", "cross-entropy", "mse", "bce", "nll"},
           "program: it returns its loss; otherwise the loss of the predictions that it returns");
  add.option("--label-smoothing", label_smoothing_, "of --loss cross-entropy and bce")
      ->check(CLI::Range(0.0, 0.99));
  add.option("--target", target_, "the tensor that predictions are compared with");
  add.list("--cut", cuts_,
           "module before whose first operator the program is cut, for --stages; once for each cut "
           "(default: none)");
  add.list("--library", libraries_,
           "shared library with operators that the program calls (default: none)");
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

std::optional<TextTokens> ProgramTraining::text_of(const ExportedProgram& program) const {
  if (text_.empty()) {
    if (text_length_)
      throw UsageError("--text-length needs --text bytes, or a SentencePiece model");
    return std::nullopt;
  }
  if (text_length_) return TextTokens{.tokens = text_, .length = *text_length_};
  const auto sizes = program.input_sizes();
  if (sizes.empty() || sizes.front().size() != 2 || sizes.front().back() < 1)
    throw UsageError("the program takes rows of any length; give --text-length");
  return TextTokens{.tokens = text_, .length = sizes.front().back()};
}

RunSummary ProgramTraining::train(const RunOptions& given) {
  RunOptions options = given;
  if (options.stages.is_staged() && cuts_.empty())
    throw UsageError("a program in stages needs to know where to cut it; give --cut MODULE");
  const ExportedProgram program = load();
  const ProgramLoss loss = loss_of(program);
  const auto text = text_of(program);
  const bool is_directory = data_.size() == 1 && std::filesystem::is_directory(data_.front());
  const auto data = open_rows({data_, loss.names(), RowsPart::train, options.seed, text});
  const auto valid = open_rows({valid_.empty() && is_directory ? data_ : valid_, loss.names(),
                                RowsPart::test, options.seed, text});
  const auto batch_rows = fixed_rows(program);
  options.drop_last = options.drop_last || batch_rows;
  check_first_rows(*data, program, loss, batch_rows.value_or(options.batch_size));
  check_first_rows(*valid, program, loss, batch_rows.value_or(kTestRows));
  Run run(options, [program] { return ExportedModel(program); });
  if (const auto size = feed_size(options, run.share().total); batch_rows && size != *batch_rows) {
    throw UsageError(file_ + " was exported for " + std::to_string(*batch_rows) +
                     " rows at a time, not " + std::to_string(size) + "; give --batch-size " +
                     std::to_string(*batch_rows) +
                     ", or export it with dynamic_shapes for the first dimension");
  }
  BatchSourceOf<NamedBatch> source(*data, options, run.share());
  ProgramTask task(run, *data, *valid, loss, file_, batch_rows);
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
  const auto rows =
      open_rows({test_data_.empty() ? own : std::vector<std::string>{test_data_}, loss.names(),
                 RowsPart::test, run.checkpoint.seed, text_of(program)});
  const auto batch_rows = fixed_rows(program);
  check_first_rows(*rows, program, loss, batch_rows.value_or(kTestRows));
  auto towers = make_towers(devices, [program] { return ExportedModel(program); },
                            {.precision = run.precision_on(devices)});
  load_weights(run, towers);
  const TowerShare share = tower_share(world, towers.size());
  Evaluation found = evaluate(towers, test_batches(*rows, share, batch_rows), loss);
  if (world != nullptr) found = evaluation_of_all(*world, found);
  const std::string left_out = left_out_text(*rows, batch_rows);
  return {.text = evaluation_text(found) + (left_out.empty() ? "" : " (" + left_out + ")"),
          .members = [found](JsonWriter& json) {
            json.key("loss").value(found.loss);
            for (const auto& [name, value] : found.metrics) json.key(name).value(value);
          }};
}

}  // namespace pagoda::app
