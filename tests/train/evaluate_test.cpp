#include <pagoda/base/error.h>
#include <pagoda/tower/tower_error.h>
#include <pagoda/train/evaluate.h>

#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "support/formula_data.h"
#include "support/small_models.h"
#include "support/tower_fixtures.h"

namespace pagoda {
namespace evaluate_test {

using testing::cpu_devices;
using testing::in_double;
using testing::Mlp;
using testing::Noisy;

constexpr std::int64_t kSamples = 23;

TensorDataset formula_data() {
  const Batch all = testing::vector_feed(0, kSamples);
  return TensorDataset(all.input, all.target);
}

Scored score(Mlp& model, const Batch& batch) {
  const at::Tensor output = model->forward(batch.input);
  return {.loss = torch::mse_loss(output, batch.target),
          .metrics = {{"sum", output.sum(1).mean()}, {"first", batch.input.select(1, 0).mean()}}};
}

class EvaluateTest : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Towers, EvaluateTest, ::testing::ValuesIn(testing::kTowerCounts));

TEST_P(EvaluateTest, GivesTheMeansOverAllSamplesHoweverTheyAreCut) {
  auto towers = make_towers(cpu_devices(GetParam()), [] { return in_double(Mlp()); }, {.seed = 3});
  const TensorDataset data = formula_data();
  const Scored whole = score(towers.model(0), testing::vector_feed(0, kSamples));
  for (const std::int64_t batch_size : {1, 5, 23, 100}) {
    for (const int feeds : {1, 3}) {
      const Evaluation found = evaluate(
          towers, batches(data, towers.size(), {.batch_size = batch_size, .feeds_per_tower = feeds}),
          score);
      EXPECT_EQ(found.weight, kSamples);
      EXPECT_NEAR(found.loss, whole.loss.item<double>(), 1e-12);
      EXPECT_NEAR(found.metric("sum"), whole.metrics[0].second.item<double>(), 1e-12);
      EXPECT_NEAR(found.metric("first"), whole.metrics[1].second.item<double>(), 1e-12);
    }
  }
}

TEST_P(EvaluateTest, TakesABareLossToo) {
  auto towers = make_towers(cpu_devices(GetParam()), [] { return in_double(Mlp()); });
  const TensorDataset data = formula_data();
  const Evaluation found =
      evaluate(towers, batches(data, towers.size(), {.batch_size = 4}),
               [](Mlp&, const Batch& batch) { return batch.target.sum() / batch.target.size(0); });
  const at::Tensor target = testing::vector_feed(0, kSamples).target;
  EXPECT_NEAR(found.loss, target.sum().item<double>() / kSamples, 1e-12);
  EXPECT_TRUE(found.metrics.empty());
}

TEST_P(EvaluateTest, RunsInEvaluationModeWithoutGradientsAndChangesNothing) {
  auto towers = make_towers(cpu_devices(GetParam()), [] { return Noisy(); });
  const TensorDataset data = formula_data();
  const auto before = testing::snapshot(towers);
  const auto is_training = [&] {
    std::vector<bool> modes;
    for (int tower = 0; tower < towers.size(); ++tower)
      modes.push_back(towers.module(tower).is_training());
    return modes;
  };
  // The loss tells what the tower's thread saw: 1 for each thing that is wrong.
  const Evaluation found = evaluate(
      towers, batches(data, towers.size(), {.batch_size = 4}), [](Noisy& model, const Batch& batch) {
        const at::Tensor output = model->forward(batch.input);
        const bool wrong = model->is_training() || output.requires_grad() ||
                           torch::GradMode::is_enabled() ||
                           !output.equal(model->forward(batch.input));
        return torch::tensor(wrong ? 1.0 : 0.0);
      });
  EXPECT_EQ(found.loss, 0);
  EXPECT_EQ(is_training(), std::vector<bool>(static_cast<std::size_t>(GetParam()), true));
  EXPECT_TRUE(testing::all_equal(testing::snapshot(towers), before));
}

TEST_P(EvaluateTest, EveryModuleHasItsOwnModeAgainAfterwards) {
  auto towers = make_towers(cpu_devices(GetParam()), [] { return Noisy(); });
  const TensorDataset data = formula_data();
  for (int tower = 0; tower < GetParam(); ++tower) towers.model(tower)->norm->eval();
  const Evaluation found = evaluate(
      towers, batches(data, towers.size(), {.batch_size = 4}), [](Noisy& model, const Batch&) {
        const bool wrong = model->is_training() || model->dropout->is_training();
        return torch::tensor(wrong ? 1.0 : 0.0);
      });
  EXPECT_EQ(found.loss, 0);
  for (int tower = 0; tower < GetParam(); ++tower) {
    EXPECT_TRUE(towers.model(tower)->is_training());
    EXPECT_TRUE(towers.model(tower)->dropout->is_training());
    EXPECT_FALSE(towers.model(tower)->norm->is_training()) << "it was set to evaluation before";
  }
}

TEST_P(EvaluateTest, AnExceptionNamesItsTowerAndLeavesTheTowersUsable) {
  const int count = GetParam();
  auto towers = make_towers(cpu_devices(count), [] { return in_double(Mlp()); });
  const TensorDataset data = formula_data();
  const BatchesOptions in_order{.batch_size = 1, .shuffle = false};
  for (int bad = 0; bad < count; ++bad) {
    const std::string message = testing::message_of<TowerError>([&] {
      evaluate(towers, batches(data, count, in_order), [bad](Mlp& model, const Batch& batch) {
        if (batch.samples[0] == bad) throw std::runtime_error("cannot score this");
        return score(model, batch);
      });
    });
    EXPECT_NE(message.find("tower " + std::to_string(bad)), std::string::npos) << message;
    EXPECT_NE(message.find("evaluation"), std::string::npos) << message;
    EXPECT_NE(message.find("cannot score this"), std::string::npos) << message;
    EXPECT_TRUE(towers.module(bad).is_training());
  }
  EXPECT_EQ(evaluate(towers, batches(data, count, in_order), score).weight, kSamples);
}

TEST(EvaluationTest, AddsByWeight) {
  Evaluation all;
  double loss = 0;
  double metric = 0;
  double weight = 0;
  for (const double w : {3.0, 0.0, 1.0, 7.0}) {
    all.add({.loss = torch::tensor(w * w, torch::kDouble),
             .metrics = {{"m", torch::tensor(2 - w, torch::kDouble)}}},
            w);
    loss += w * w * w;
    metric += (2 - w) * w;
    weight += w;
  }
  EXPECT_EQ(all.weight, weight);
  EXPECT_NEAR(all.loss, loss / weight, 1e-12);
  EXPECT_NEAR(all.metric("m"), metric / weight, 1e-12);
  all.add(Evaluation{});
  EXPECT_EQ(all.weight, weight);
  EXPECT_NEAR(all.loss, loss / weight, 1e-12);
}

TEST(EvaluationTest, AnUnknownMetricIsAUsageErrorWithItsName) {
  const Evaluation evaluation{.metrics = {{"accuracy", 0.5}}};
  EXPECT_EQ(evaluation.metric("accuracy"), 0.5);
  const std::string message =
      testing::message_of<UsageError>([&] { evaluation.metric("precision"); });
  EXPECT_NE(message.find("'precision'"), std::string::npos) << message;
}

}  // namespace evaluate_test
}  // namespace pagoda
