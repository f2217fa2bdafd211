#include <pagoda/base/error.h>
#include <pagoda/models/softmax_loss.h>

#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace pagoda {
namespace sampled_softmax_loss_test {

constexpr std::int64_t kVocabulary = 50;

std::vector<std::int64_t> values(const at::Tensor& ids) {
  const auto* data = ids.const_data_ptr<std::int64_t>();
  return {data, data + ids.numel()};
}

TEST(DrawCandidatesTest, GivesDistinctTokensAsAFunctionOfTheSeed) {
  for (const std::int64_t count : {std::int64_t{1}, std::int64_t{20}, kVocabulary}) {
    const Candidates drawn = draw_candidates(kVocabulary, count, 7);
    const auto ids = values(drawn.ids);
    const std::set<std::int64_t> distinct(ids.begin(), ids.end());
    EXPECT_EQ(static_cast<std::int64_t>(distinct.size()), count);
    EXPECT_GE(*distinct.begin(), 0);
    EXPECT_LT(*distinct.rbegin(), kVocabulary);
    EXPECT_GE(drawn.tries, count);
    EXPECT_EQ(values(draw_candidates(kVocabulary, count, 7).ids), ids);
  }
  EXPECT_NE(values(draw_candidates(kVocabulary, 20, 7).ids),
            values(draw_candidates(kVocabulary, 20, 8).ids));
  EXPECT_THROW(draw_candidates(10, 0, 1), UsageError);
  EXPECT_THROW(draw_candidates(10, 11, 1), UsageError);
}

TEST(DrawCandidatesTest, FollowsTheLogUniformDistribution) {
  constexpr int kDraws = 20'000;
  std::vector<int> counts(10);
  for (int seed = 0; seed < kDraws; ++seed) {
    const Candidates drawn = draw_candidates(10, 1, static_cast<std::uint64_t>(seed));
    ++counts[static_cast<std::size_t>(values(drawn.ids)[0])];
  }
  for (std::size_t i = 0; i < 10; ++i) {
    const double chance = std::log((i + 2.0) / (i + 1.0)) / std::log(11.0);
    EXPECT_NEAR(counts[i], kDraws * chance, 5 * std::sqrt(kDraws * chance)) << i;
  }
}

struct Problem {
  at::Tensor hidden, weight, bias, targets;
};

Problem problem_of(std::int64_t rows) {
  torch::manual_seed(4);
  return {torch::randn({rows, 3}, torch::kDouble).requires_grad_(),
          torch::randn({kVocabulary, 3}, torch::kDouble).requires_grad_(),
          torch::randn({kVocabulary}, torch::kDouble).requires_grad_(),
          torch::randint(kVocabulary, {rows}, torch::kLong)};
}

/// The definition, token by token, for autograd.
at::Tensor by_definition(const Problem& p, const Candidates& candidates) {
  const auto correction = [&](std::int64_t id) {
    const double chance =
        std::log((id + 2.0) / (id + 1.0)) / std::log(static_cast<double>(kVocabulary) + 1);
    return std::log(1 - std::pow(1 - chance, static_cast<double>(candidates.tries)));
  };
  at::Tensor sum = torch::zeros({}, torch::kDouble);
  for (std::int64_t row = 0; row < p.hidden.size(0); ++row) {
    const auto target = p.targets[row].item<std::int64_t>();
    const auto logit = [&](std::int64_t id) {
      return p.hidden[row].dot(p.weight[id]) + p.bias[id] - correction(id);
    };
    std::vector<at::Tensor> logits{logit(target)};
    for (const std::int64_t id : values(candidates.ids)) {
      if (id != target) logits.push_back(logit(id));
    }
    sum = sum - torch::stack(logits).log_softmax(0)[0];
  }
  return sum / static_cast<double>(p.hidden.size(0));
}

TEST(SampledSoftmaxLossTest, EqualsItsDefinitionWithRowsAsGradient) {
  const Problem problem = problem_of(9);
  const Candidates candidates = draw_candidates(kVocabulary, 12, 3);
  const auto leaves = {problem.hidden, problem.weight, problem.bias};
  const at::Tensor expected = by_definition(problem, candidates);
  (2 * expected).backward();
  std::vector<at::Tensor> gradients;
  for (auto leaf : leaves) {
    gradients.push_back(leaf.grad().clone());
    leaf.mutable_grad().reset();
  }
  for (const RowGradients rows : {RowGradients::sparse, RowGradients::dense}) {
    const SoftmaxLoss ours = sampled_softmax_loss(problem.hidden, {problem.weight, problem.bias},
                                                  problem.targets, candidates, rows);
    EXPECT_NEAR(ours.loss.item<double>(), expected.item<double>(), 1e-12);
    (2 * ours.loss).backward();
    EXPECT_EQ(problem.weight.grad().is_sparse(), rows == RowGradients::sparse);
    EXPECT_EQ(problem.bias.grad().is_sparse(), rows == RowGradients::sparse);
    if (rows == RowGradients::sparse) {
      EXPECT_LE(problem.weight.grad().coalesce()._nnz(), 9 + 12);
    }
    std::size_t i = 0;
    for (auto leaf : leaves) {
      const at::Tensor grad = leaf.grad().is_sparse() ? leaf.grad().to_dense() : leaf.grad();
      EXPECT_LT((grad - gradients[i++]).abs().max().item<double>(), 1e-12);
      leaf.mutable_grad().reset();
    }
  }
}

TEST(SampledSoftmaxLossTest, AllTokensAsCandidatesAreTheFullSoftmax) {
  const Problem problem = problem_of(6);
  Candidates all = draw_candidates(kVocabulary, kVocabulary, 1);
  all.tries = std::numeric_limits<std::int32_t>::max();  // every token is expected once
  const SoftmaxLoss sampled =
      sampled_softmax_loss(problem.hidden, {problem.weight, problem.bias}, problem.targets, all);
  const SoftmaxLoss full =
      full_softmax_loss(problem.hidden, {problem.weight, problem.bias}, problem.targets);
  EXPECT_NEAR(sampled.loss.item<double>(), full.loss.item<double>(), 1e-12);
}

TEST(SampledSoftmaxLossTest, NamesATargetOrCandidateOutsideTheVocabulary) {
  const auto text_of = [](std::int64_t target, std::int64_t candidate) -> std::string {
    const Problem problem = problem_of(5);
    problem.targets[3] = target;
    Candidates candidates = draw_candidates(kVocabulary, 12, 3);
    candidates.ids[7] = candidate;
    try {
      sampled_softmax_loss(problem.hidden, {problem.weight, problem.bias}, problem.targets,
                           candidates);
    } catch (const DataError& error) {
      return error.what();
    }
    return "taken";
  };
  for (const std::int64_t bad : {50, -1, 60, -100}) {
    const std::string outside =
        " is token " + std::to_string(bad) + ", which is outside the vocabulary of 50 tokens";
    EXPECT_NE(text_of(bad, 1).find("target 3" + outside), std::string::npos) << text_of(bad, 1);
    EXPECT_NE(text_of(1, bad).find("candidate 7" + outside), std::string::npos) << text_of(1, bad);
  }
}

TEST(SampledSoftmaxLossTest, ALogitOfMinusInfinityHasNoPower) {
  for (const bool banned_is_expected : {false, true}) {
    const Problem problem = problem_of(9);
    const Candidates candidates = draw_candidates(kVocabulary, 12, 3);
    const std::int64_t banned = values(candidates.ids)[5];
    problem.bias.detach()[banned] = -std::numeric_limits<double>::infinity();
    problem.targets.masked_fill_(problem.targets == banned, (banned + 1) % kVocabulary);
    if (banned_is_expected) problem.targets[4] = banned;
    const auto leaves = {problem.hidden, problem.weight, problem.bias};
    const auto gradients_of = [&](const at::Tensor& loss) {
      loss.backward();
      std::vector<at::Tensor> gradients;
      for (auto leaf : leaves) {
        gradients.push_back(leaf.grad().clone());
        leaf.mutable_grad().reset();
      }
      return gradients;
    };
    const at::Tensor expected = by_definition(problem, candidates);
    const auto expected_gradients = gradients_of(expected);
    const at::Tensor ours = sampled_softmax_loss(problem.hidden, {problem.weight, problem.bias},
                                                 problem.targets, candidates, RowGradients::dense)
                                .loss;
    EXPECT_EQ(std::isinf(expected.item<double>()), banned_is_expected);
    EXPECT_TRUE(torch::allclose(ours, expected, 1e-12, 1e-12)) << ours << expected;
    const auto our_gradients = gradients_of(ours);
    for (std::size_t i = 0; i < our_gradients.size(); ++i) {
      EXPECT_TRUE(torch::allclose(our_gradients[i], expected_gradients[i], 1e-12, 1e-12)) << i;
    }
  }
}

TEST(SampledSoftmaxLossTest, TheBiasTrainsAlone) {
  const Problem problem = problem_of(9);
  const Candidates candidates = draw_candidates(kVocabulary, 12, 3);
  by_definition(problem, candidates).backward();
  const at::Tensor expected = problem.bias.grad().clone();
  problem.bias.mutable_grad().reset();
  sampled_softmax_loss(problem.hidden.detach(), {problem.weight.detach(), problem.bias},
                       problem.targets, candidates)
      .loss.backward();
  EXPECT_LT((problem.bias.grad().to_dense() - expected).abs().max().item<double>(), 1e-12);
}

}  // namespace sampled_softmax_loss_test
}  // namespace pagoda
