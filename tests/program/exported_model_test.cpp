#include <pagoda/base/error.h>
#include <pagoda/program/exported_model.h>
#include <pagoda/tower/towers.h>
#include <pagoda/train/sync_step.h>

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

void expect_same_bits(const at::Tensor& found, const at::Tensor& expected, const std::string& what) {
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
  for (int i = 0; reference.has("adam/" + std::to_string(i) + "/0/x") ||
                  !reference.under("adam/" + std::to_string(i) + "/0").empty();
       ++i) {
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

}  // namespace exported_model_test
}  // namespace pagoda
