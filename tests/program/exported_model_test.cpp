#include <pagoda/base/error.h>
#include <pagoda/program/exported_model.h>
#include <pagoda/tower/towers.h>
#include <pagoda/train/sync_step.h>

#include <string>

#include <ATen/Parallel.h>
#include <torch/utils.h>

#include "program/python_reference.h"
#include "support/sim_machine.h"
#include "support/tower_fixtures.h"

namespace pagoda {
namespace exported_model_test {

using testing::PythonReference;

constexpr std::uint64_t kSeed = 11;
constexpr double kLearningRate = 1e-3;
constexpr double kEpsilon = 1e-4;
constexpr double kTolerance = 1e-12;

/// Where the models lie that a test reads: those of PAGODA_PYTHON_MODELS, or the small ones.
std::filesystem::path models_folder() {
  const char* named = std::getenv("PAGODA_PYTHON_MODELS");
  return named != nullptr ? std::filesystem::path(named) : testing::small_models();
}

#define PAGODA_NEEDS_MODELS() \
  if (models_folder().empty()) GTEST_SKIP() << "there is no Python with torch"

struct Rows {
  std::map<std::string, at::Tensor> inputs;

  double weight() const { return static_cast<double>(inputs.begin()->second.size(0)); }
  std::vector<std::int64_t> sample_numbers() const { return {}; }
  template <class Change>
  Rows with_tensors(Change change) const {
    Rows changed;
    for (const auto& [name, tensor] : inputs) changed.inputs[name] = change(tensor);
    return changed;
  }
};

at::Tensor loss_of(ExportedModel& model, const Rows& rows) {
  return model->forward_named(rows.inputs)[0];
}

void expect_same_bits(const at::Tensor& found, const at::Tensor& expected,
                      const std::string& what) {
  ASSERT_TRUE(found.defined()) << what;
  EXPECT_TRUE(at::equal(found.to(expected.scalar_type()), expected))
      << what << ": largest difference "
      << (found.to(at::kDouble) - expected.to(at::kDouble)).abs().max().item<double>();
}

void expect_outputs(const std::vector<at::Tensor>& found,
                    const std::map<std::string, at::Tensor>& expected) {
  ASSERT_FALSE(expected.empty());
  for (const auto& [number, tensor] : expected)
    expect_same_bits(found.at(std::stoul(number)).detach(), tensor, "output " + number);
}

/// Forward and backward of one tower, with as many rows as the prefix says.
void expect_one_pass(const std::filesystem::path& file, const PythonReference& reference,
                     const std::string& rows) {
  ExportedModel model(file);
  torch::manual_seed(kSeed);
  const auto outputs = model->forward_named(reference.under(rows + "/in"));
  outputs[0].backward();
  expect_outputs(outputs, reference.under(rows + "/out"));
  const auto parameters = model->named_parameters();
  for (const auto& [name, gradient] : reference.under(rows + "/grad")) {
    ASSERT_TRUE(parameters.contains(name)) << name;
    expect_same_bits(parameters[name].grad(), gradient, "gradient of " + name);
  }
  const auto buffers = model->named_buffers();
  for (const auto& [name, buffer] : reference.under(rows + "/buffer")) {
    ASSERT_TRUE(buffers.contains(name)) << name;
    expect_same_bits(buffers[name], buffer, "buffer " + name);
  }
  if (!reference.has(rows + "/eval/0")) return;
  ExportedModel evaluated(file);
  evaluated->eval();
  expect_outputs(evaluated->forward_named(reference.under(rows + "/in")),
                 reference.under(rows + "/eval"));
}

TEST(ExportedModelTest, ForwardBackwardAndEvaluationAreThoseOfPythonBitForBit) {
  PAGODA_NEEDS_MODELS();
  at::set_num_threads(1);
  for (const std::string& name : testing::model_names(models_folder())) {
    SCOPED_TRACE(name);
    const PythonReference reference(models_folder() / (name + ".reference.pt"));
    for (const char* rows : {"3", "7"})
      expect_one_pass(models_folder() / (name + ".pt2"), reference, rows);
  }
}

void expect_trained(std::vector<Device> devices, const std::string& name) {
  const PythonReference reference(models_folder() / (name + ".reference.pt"));
  const auto expected = reference.under("adam/parameter");
  if (expected.empty()) return;
  std::filesystem::path file = models_folder() / (name + ".plain.pt2");
  if (!exists(file)) file = models_folder() / (name + ".pt2");
  auto towers = make_towers(std::move(devices), [file] { return ExportedModel(file); });
  SyncStep step(towers, Adam{.learning_rate = kLearningRate, .epsilon = kEpsilon});
  for (int i = 0; !reference.under("adam/" + std::to_string(i) + "/0").empty(); ++i) {
    std::vector<Rows> feeds;
    for (const char* tower : {"0", "1"})
      feeds.push_back({reference.under("adam/" + std::to_string(i) + "/" + tower)});
    step.run(feeds, loss_of);
  }
  for (const auto& [parameter, tensor] : towers.master().trainable) {
    ASSERT_TRUE(expected.count(parameter)) << parameter;
    EXPECT_LT((tensor.detach() - expected.at(parameter)).abs().max().item<double>(), kTolerance)
        << parameter;
  }
}

TEST(ExportedModelTest, TwoTowersComeToTheParametersThatPythonComesTo) {
  PAGODA_NEEDS_MODELS();
  for (const std::string& name : testing::model_names(models_folder())) {
    SCOPED_TRACE(name);
    expect_trained(testing::cpu_devices(2), name);
  }
}

/// The parameters after one step over these feeds.
std::vector<at::Tensor> stepped(const std::filesystem::path& file, const std::vector<Rows>& feeds) {
  auto towers =
      make_towers(testing::cpu_devices(static_cast<int>(feeds.size())),
                  [file] { return ExportedModel(file); }, {.sync_batch_norm = feeds.size() > 1});
  SyncStep step(towers, Sgd{.learning_rate = 0.1});
  step.run(feeds, loss_of);
  return testing::copies(towers.master().trainable);
}

TEST(ExportedModelTest, BatchNormOverAllTowersNormalisesAsOneTowerDoes) {
  const auto folder = testing::small_models();
  if (folder.empty()) GTEST_SKIP() << "there is no Python with torch";
  const auto inputs = PythonReference(folder / "cnn.reference.pt").under("7/in");
  std::vector<Rows> halves(2);
  for (const auto& [name, tensor] : inputs) {
    halves[0].inputs[name] = tensor.slice(0, 0, 4);
    halves[1].inputs[name] = tensor.slice(0, 4);
  }
  const auto one = stepped(folder / "cnn.plain.pt2", {{inputs}});
  const auto two = stepped(folder / "cnn.plain.pt2", halves);
  for (std::size_t i = 0; i < one.size(); ++i)
    EXPECT_LT((one[i] - two[i]).abs().max().item<double>(), kTolerance) << i;
}

TEST(ExportedModelTest, SimulatedCardsTrainItToo) {
  PAGODA_NEEDS_MODELS();
  for (const char* name : {"cnn", "lstm", "transformer", "odd"}) {
    SCOPED_TRACE(name);
    if (exists(models_folder() / (std::string(name) + ".pt2")))
      expect_trained(testing::first_cards(2), name);
  }
}

TEST(ExportedModelTest, ASecondProgramIsForEvaluation) {
  const auto folder = testing::small_models();
  if (folder.empty()) GTEST_SKIP() << "there is no Python with torch";
  const PythonReference expected(folder / "two_programs.pt2.results");
  const ExportedProgram program(folder / "two_programs.pt2");
  ExportedModel model(program);
  for (const char* mode : {"train", "evaluate", "train"}) {
    model->train(std::string(mode) == "train");
    torch::manual_seed(kSeed);
    expect_same_bits(model->forward_named(expected.under("in"))[0].detach(), expected.at(mode),
                     mode);
  }
}

std::string refusal_of(ExportedModel& model, const std::map<std::string, at::Tensor>& inputs) {
  try {
    model->forward_named(inputs);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(ExportedModelTest, AModelThatOneProgramCannotEvaluateSaysWhyAndWhatToDo) {
  const auto folder = testing::small_models();
  if (folder.empty()) GTEST_SKIP() << "there is no Python with torch";
  ExportedModel model(folder / "drop_path.pt2");
  model->eval();
  const PythonReference reference(folder / "drop_path.reference.pt");
  const std::string text = refusal_of(model, reference.under("3/in"));
  EXPECT_NE(text.find("aten::bernoulli_.float draws random numbers (module 'model')"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("package_pt2"), std::string::npos) << text;
}

TEST(ExportedModelTest, WhatNoCheckpointHasMayNotChange) {
  const auto folder = testing::small_models();
  if (folder.empty()) GTEST_SKIP() << "there is no Python with torch";
  ExportedModel model(folder / "forgetful.bad.pt2");
  const std::string text = testing::message_of<UsageError>([&] {
    model->forward_named({{"x", at::ones({4, 6}, at::kDouble)}});
  });
  EXPECT_NE(text.find("changes 'scale'"), std::string::npos) << text;
  EXPECT_NE(text.find("persistent=True"), std::string::npos) << text;
}

TEST(ExportedModelTest, WrongInputsAreToldByName) {
  const auto folder = testing::small_models();
  if (folder.empty()) GTEST_SKIP() << "there is no Python with torch";
  ExportedModel model(folder / "odd.pt2");
  const at::Tensor tokens = at::zeros({4, 5}, at::kLong);
  const at::Tensor weights = at::zeros({4, 2}, at::kDouble);
  EXPECT_EQ(refusal_of(model, {{"tokens", tokens}, {"weights", weights}}), "");
  EXPECT_EQ(refusal_of(model, {{"tokens", tokens}, {"weights", at::zeros({4, 3}, at::kDouble)}}),
            "input weights: 3 columns, the program was exported for 2");
  EXPECT_EQ(
      refusal_of(model, {{"tokens", tokens}, {"weights", at::zeros({3, 2}, at::kDouble)}}),
      "input weights: 3 rows, the program was exported for as many as input tokens has, which "
      "is 4");
  EXPECT_EQ(refusal_of(model, {{"tokens", tokens}}), "input weights: there is no tensor");
  EXPECT_EQ(refusal_of(model, {{"tokens", tokens}, {"weights", weights}, {"x", weights}}),
            "the program has no input 'x'");
  EXPECT_THROW(model->to(at::kFloat), UsageError);
}

TEST(ExportedModelTest, NamesAndTiesAreThoseOfTheStateDict) {
  const auto folder = testing::small_models();
  if (folder.empty()) GTEST_SKIP() << "there is no Python with torch";
  ExportedModel model(folder / "odd.pt2");
  std::vector<std::string> names;
  for (const auto& item : model->named_parameters()) names.push_back(item.key());
  EXPECT_EQ(names, (std::vector<std::string>{"scale", "embedding.weight", "hidden.weight",
                                             "hidden.bias", "output.weight"}));
  const auto parameters = model->named_parameters();
  EXPECT_TRUE(parameters["embedding.weight"].is_same(parameters["output.weight"]));
  EXPECT_FALSE(parameters["scale"].requires_grad());
  EXPECT_EQ(model->named_buffers().size(), 1);
  EXPECT_EQ(model->output_names(), (std::vector<std::string>{"loss", "spread", "rows", "nothing"}));
  const auto outputs = model(at::zeros({4, 5}, at::kLong), at::zeros({4, 2}, at::kDouble));
  EXPECT_EQ(outputs[2].item<std::int64_t>(), 4);
  EXPECT_FALSE(outputs[3].defined());
}

TEST(ExportedModelTest, ModelsOfOneProgramHaveTheirOwnWeights) {
  const auto folder = testing::small_models();
  if (folder.empty()) GTEST_SKIP() << "there is no Python with torch";
  const ExportedProgram program(folder / "cnn.pt2");
  ExportedModel first(program);
  ExportedModel second(program);
  torch::NoGradGuard no_grad;
  for (auto& parameter : first->parameters()) parameter.zero_();
  EXPECT_GT(second->parameters()[0].abs().max().item<double>(), 0);
}

}  // namespace exported_model_test
}  // namespace pagoda
