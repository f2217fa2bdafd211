#include <pagoda/base/error.h>
#include <pagoda/models/softmax_loss.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace pagoda {
namespace full_softmax_loss_test {

struct Problem {
  at::Tensor hidden, weight, bias, targets;
};

Problem problem_of(std::int64_t rows, std::int64_t vocabulary, at::ScalarType type) {
  torch::manual_seed(2);
  return {torch::randn({rows, 3}, type).requires_grad_(),
          torch::randn({vocabulary, 3}, type).requires_grad_(),
          torch::randn({vocabulary}, type).requires_grad_(),
          torch::randint(vocabulary, {rows}, torch::kLong)};
}

void expect_close(const at::Tensor& a, const at::Tensor& b, double tolerance) {
  EXPECT_LT((a.to(at::kDouble) - b.to(at::kDouble)).abs().max().item<double>(), tolerance);
}

void expect_as_libtorch(const Problem& problem, double smoothing, double tolerance) {
  const auto leaves = {problem.hidden, problem.weight, problem.bias};
  const SoftmaxLoss ours =
      full_softmax_loss(problem.hidden, {problem.weight, problem.bias}, problem.targets, smoothing);
  (3 * ours.loss).backward();
  std::vector<at::Tensor> gradients;
  for (auto leaf : leaves) {
    gradients.push_back(leaf.grad().clone());
    leaf.mutable_grad().reset();
  }
  const at::Tensor logits = torch::linear(problem.hidden, problem.weight, problem.bias);
  const at::Tensor expected =
      torch::cross_entropy_loss(logits, problem.targets, {}, at::Reduction::Mean, -100, smoothing);
  (3 * expected).backward();
  expect_close(ours.loss, expected, tolerance);
  expect_close(ours.negative_log_likelihood, torch::cross_entropy_loss(logits, problem.targets),
               tolerance);
  EXPECT_FALSE(ours.negative_log_likelihood.requires_grad());
  std::size_t i = 0;
  for (auto leaf : leaves) expect_close(gradients[i++], leaf.grad(), tolerance);

  const at::NoGradGuard no_grad;
  const SoftmaxLoss plain =
      full_softmax_loss(problem.hidden, {problem.weight, problem.bias}, problem.targets, smoothing);
  EXPECT_TRUE(plain.loss.equal(ours.loss.detach()));
}

TEST(FullSoftmaxLossTest, EqualsLibTorchForOneAndManyChunks) {
  for (const double smoothing : {0.0, 0.1}) {
    expect_as_libtorch(problem_of(1, 1, torch::kDouble), smoothing, 1e-12);
    expect_as_libtorch(problem_of(7, 11, torch::kDouble), smoothing, 1e-12);
    expect_as_libtorch(problem_of(131, 40'000, torch::kDouble), smoothing, 1e-12);
    expect_as_libtorch(problem_of(131, 4001, torch::kFloat), smoothing, 1e-5);
  }
}

TEST(FullSoftmaxLossTest, OtherTypesTakeLibTorchsOperators) {
  const Problem exact = problem_of(5, 7, torch::kDouble);
  const auto half = [](const at::Tensor& t) { return t.detach().to(torch::kBFloat16); };
  const SoftmaxLoss loss = full_softmax_loss(half(exact.hidden).requires_grad_(),
                                             {half(exact.weight), half(exact.bias)}, exact.targets);
  const SoftmaxLoss expected =
      full_softmax_loss(exact.hidden, {exact.weight, exact.bias}, exact.targets);
  expect_close(loss.loss, expected.loss, 0.1);
  expect_close(loss.negative_log_likelihood, expected.loss, 0.1);
}

/// What a loss and a backward pass give: the loss, then the leaves' gradients.
std::vector<at::Tensor> results_of(const at::Tensor& loss, std::vector<at::Tensor> leaves) {
  loss.backward();
  std::vector<at::Tensor> results{loss.detach()};
  for (at::Tensor& leaf : leaves) {
    results.push_back(leaf.grad().clone());
    leaf.mutable_grad().reset();
  }
  return results;
}

/// Equal up to rounding; infinity equals itself.
void expect_equal(const std::vector<at::Tensor>& ours, const std::vector<at::Tensor>& expected,
                  double tolerance) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_TRUE(torch::allclose(ours[i].to(at::kDouble), expected[i], tolerance, tolerance))
        << i << ": " << ours[i] << expected[i];
  }
}

TEST(FullSoftmaxLossTest, NamesATargetOutsideTheVocabulary) {
  for (const at::ScalarType type : {torch::kFloat, torch::kDouble, torch::kBFloat16}) {
    for (const std::int64_t target : {50, -1, 60, -100}) {
      const Problem problem = problem_of(5, 50, type);
      problem.targets[3] = target;
      for (const bool training : {true, false}) {
        const at::AutoGradMode mode(training);
        try {
          full_softmax_loss(problem.hidden, {problem.weight, problem.bias}, problem.targets);
          FAIL() << target << " was taken";
        } catch (const DataError& error) {
          const std::string text = error.what();
          EXPECT_NE(text.find("target 3 is token " + std::to_string(target)), std::string::npos)
              << text;
          EXPECT_NE(text.find("vocabulary of 50 tokens"), std::string::npos) << text;
        }
      }
    }
  }
}

TEST(FullSoftmaxLossTest, RefusesTargetsThatDoNotBelongToTheRows) {
  const Problem problem = problem_of(5, 7, torch::kDouble);
  const auto loss_of = [&](const at::Tensor& targets) {
    return full_softmax_loss(problem.hidden, {problem.weight, problem.bias}, targets);
  };
  EXPECT_THROW(loss_of(problem.targets.narrow(0, 0, 4)), UsageError);
  EXPECT_THROW(loss_of(problem.targets.unsqueeze(1)), UsageError);
  EXPECT_THROW(loss_of(problem.targets.to(torch::kInt)), UsageError);
}

TEST(FullSoftmaxLossTest, ALogitOfMinusInfinityHasNoPower) {
  constexpr std::int64_t kBanned = 17;
  for (const at::ScalarType type : {torch::kDouble, torch::kFloat}) {
    for (const double smoothing : {0.0, 0.1}) {
      for (const bool banned_is_expected : {false, true}) {
        SCOPED_TRACE(std::to_string(smoothing) + (banned_is_expected ? ", banned target" : ""));
        Problem problem = problem_of(5, 19, type);
        problem.bias.detach()[kBanned] = -std::numeric_limits<double>::infinity();
        problem.targets.fill_(3);
        if (banned_is_expected) problem.targets[2] = kBanned;
        const SoftmaxLoss ours = full_softmax_loss(problem.hidden, {problem.weight, problem.bias},
                                                   problem.targets, smoothing);
        const auto leaf = [](const at::Tensor& tensor) {
          return tensor.detach().to(torch::kDouble).requires_grad_();
        };
        const Problem exact{leaf(problem.hidden), leaf(problem.weight), leaf(problem.bias), {}};
        const at::Tensor expected =
            torch::cross_entropy_loss(torch::linear(exact.hidden, exact.weight, exact.bias),
                                      problem.targets, {}, at::Reduction::Mean, -100, smoothing);
        EXPECT_EQ(std::isinf(expected.item<double>()), banned_is_expected || smoothing > 0);
        expect_equal(results_of(ours.loss, {problem.hidden, problem.weight, problem.bias}),
                     results_of(expected, {exact.hidden, exact.weight, exact.bias}),
                     type == torch::kDouble ? 1e-12 : 1e-5);
        EXPECT_EQ(std::isinf(ours.negative_log_likelihood.item<double>()), banned_is_expected);
      }
    }
  }
}

TEST(FullSoftmaxLossTest, EachLeafTrainsWhileTheOthersAreFrozen) {
  for (int trained = 0; trained < 3; ++trained) {
    const Problem problem = problem_of(7, 11, torch::kDouble);
    const at::Tensor logits = torch::linear(problem.hidden, problem.weight, problem.bias);
    torch::cross_entropy_loss(logits, problem.targets).backward();
    std::vector<at::Tensor> leaves;
    std::vector<at::Tensor> expected;
    for (const at::Tensor& leaf : {problem.hidden, problem.weight, problem.bias}) {
      expected.push_back(leaf.grad());
      leaves.push_back(leaf.detach().clone().requires_grad_(leaves.size() == std::size_t(trained)));
    }
    const SoftmaxLoss ours = full_softmax_loss(leaves[0], {leaves[1], leaves[2]}, problem.targets);
    ASSERT_TRUE(ours.loss.requires_grad()) << trained;
    ours.loss.backward();
    for (std::size_t i = 0; i < 3; ++i) {
      ASSERT_EQ(leaves[i].grad().defined(), i == std::size_t(trained)) << i;
      if (leaves[i].grad().defined()) expect_close(leaves[i].grad(), expected[i], 1e-12);
    }
  }
}

TEST(FullSoftmaxLossTest, ABiasMayBeAViewWithGaps) {
  const Problem problem = problem_of(7, 11, torch::kDouble);
  const at::Tensor wide = torch::stack({problem.bias.detach(), torch::ones(11, torch::kDouble)}, 1);
  const SoftmaxLoss ours =
      full_softmax_loss(problem.hidden, {problem.weight, wide.select(1, 0)}, problem.targets);
  const SoftmaxLoss expected =
      full_softmax_loss(problem.hidden, {problem.weight, problem.bias}, problem.targets);
  EXPECT_TRUE(ours.loss.equal(expected.loss));
}

TEST(FullSoftmaxLossTest, NoRowsLeaveNoGradient) {
  const Problem problem = problem_of(0, 11, torch::kDouble);
  const SoftmaxLoss none =
      full_softmax_loss(problem.hidden, {problem.weight, problem.bias}, problem.targets);
  EXPECT_TRUE(std::isnan(none.loss.item<double>())) << "a mean of nothing, as LibTorch has it";
  none.loss.backward();
  EXPECT_EQ(problem.weight.grad().count_nonzero().item<std::int64_t>(), 0);
  EXPECT_EQ(problem.bias.grad().count_nonzero().item<std::int64_t>(), 0);
}

}  // namespace full_softmax_loss_test
}  // namespace pagoda
