// Steps with every kind of model and feed that a user may bring.

#include <pagoda/train/sync_step.h>

#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "support/machines.h"
#include "support/small_models.h"

namespace pagoda {
namespace sync_step_models_test {

using testing::all_equal;
using testing::copies;
using testing::feeds_of;
using testing::Machine;
using testing::machines;
using testing::MeanSquare;
using testing::MlpImpl;
using testing::vector_feed;

class StepModelsTest : public ::testing::TestWithParam<Machine> {
 protected:
  std::vector<Batch> feeds() const {
    return feeds_of(vector_feed, std::vector<std::int64_t>(static_cast<std::size_t>(GetParam()), 2),
                    0);
  }
};

INSTANTIATE_TEST_SUITE_P(Towers, StepModelsTest, ::testing::ValuesIn(machines()));

struct NoParameters : torch::nn::Module {
  at::Tensor forward(const at::Tensor& x) { return x; }
};

TEST_P(StepModelsTest, WithoutParameters) {
  auto towers = make_towers(GetParam().devices(), [] { return NoParameters(); });
  SyncStep step(towers, Adam{}, {.max_grad_norm = 1, .moving_average = MovingAverage{}});
  double squares = 0;
  for (const auto& feed : feeds())
    squares += feed.input.square().mean().item<double>() / GetParam();
  const auto loss = [](auto& model, const Batch& batch) {
    return model->forward(batch.input).square().mean();
  };
  const StepResult result = step.run(feeds(), loss);
  EXPECT_NEAR(result.loss, squares, 1e-14);
  EXPECT_EQ(result.grad_norm, 0);
}

TEST_P(StepModelsTest, WithFrozenParametersOnly) {
  auto towers = make_towers(GetParam().devices(), [] {
    torch::nn::Linear model(testing::kInputs, testing::kOutputs);
    for (auto& parameter : model->parameters()) parameter.set_requires_grad(false);
    return testing::in_double(model);
  });
  const auto before = copies(towers.master().frozen);
  SyncStep step(towers, AdamW{});
  EXPECT_GT(step.run(feeds(), MeanSquare()).loss, 0);
  EXPECT_TRUE(all_equal(copies(towers.master().frozen), before));
}

struct ScalarImpl : torch::nn::Module {
  at::Tensor factor = register_parameter("factor", torch::full({}, 3.0, torch::kDouble));
};
TORCH_MODULE(Scalar);

TEST_P(StepModelsTest, WithOneScalar) {
  auto towers = make_towers(GetParam().devices(), [] { return Scalar(); });
  SyncStep step(towers, Sgd{.learning_rate = 0.25});
  step.run(feeds(), [](Scalar& model, const Batch&) { return model->factor.square(); });
  EXPECT_EQ(towers.model(0)->factor.item<double>(), 3 - 0.25 * 6);
}

TEST_P(StepModelsTest, HeldByPointerOrMadeByValue) {
  const auto train = [this](auto make_model) {
    auto towers = make_towers(GetParam().devices(), make_model, {.seed = 3});
    SyncStep step(towers, Sgd{});
    step.run(feeds(), [](std::shared_ptr<MlpImpl>& model, const Batch& batch) {
      return model->forward(batch.input.to(torch::kFloat)).square().mean();
    });
    return copies(towers.master().trainable);
  };
  EXPECT_TRUE(all_equal(train([] { return std::make_shared<MlpImpl>(); }),
                        train([] { return MlpImpl(); })));
}

TEST_P(StepModelsTest, ATransposedTableWithRowGradients) {
  const auto train = [this](bool sparse) {
    auto towers = make_towers(GetParam().devices(), [sparse] {
      const at::Tensor table = testing::waves({5, testing::kWords}, 0, 0.3).t();
      return torch::nn::Embedding::from_pretrained(
          table, torch::nn::EmbeddingFromPretrainedOptions().freeze(false).sparse(sparse));
    });
    SyncStep step(towers, Adam{}, {.l2 = 0.1});
    step.run(feeds_of(testing::word_feed, {3, 2, 4}, 0),
             [](torch::nn::Embedding& table, const Batch& batch) {
               return table(batch.input).square().mean();
             });
    return copies(towers.master().trainable);
  };
  EXPECT_LT(testing::largest_difference(train(true), train(false)), 1e-12);
}

/// A feed of the user's own, weighted by its words.
struct Sentences {
  at::Tensor words;
  double words_in_all;

  double weight() const { return words_in_all; }
  std::vector<std::int64_t> sample_numbers() const { return {}; }
  template <class Change>
  Sentences with_tensors(Change change) const {
    return {change(words), words_in_all};
  }
};

TEST_P(StepModelsTest, FeedsOfAnotherTypeAndWeight) {
  auto towers = make_towers(GetParam().devices(), [] { return Scalar(); });
  SyncStep step(towers, Sgd{.learning_rate = 1});
  const std::vector<Sentences> feeds = {{torch::full({2}, 10.0), 1.5},
                                        {torch::full({2}, 20.0), 0.5}};
  const StepResult result = step.run(feeds, [](Scalar& model, const Sentences& feed) {
    return model->factor * feed.words.mean().to(torch::kDouble);
  });
  EXPECT_DOUBLE_EQ(result.loss, 3 * 12.5);
  EXPECT_DOUBLE_EQ(towers.model(0)->factor.item<double>(), 3 - 12.5);
}

TEST_P(StepModelsTest, FeedsWithoutTargets) {
  auto towers = make_towers(GetParam().devices(), [] { return NoParameters(); });
  SyncStep step(towers, Sgd{});
  const std::vector<Batch> feeds = {{.input = torch::ones(4), .target = {}}};
  const auto loss = [](auto&, const Batch& batch) { return batch.input.sum(); };
  EXPECT_EQ(step.run(feeds, loss).loss, 4);
}

}  // namespace sync_step_models_test
}  // namespace pagoda
