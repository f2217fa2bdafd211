#include <pagoda/models/softmax_loss.h>

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

}  // namespace full_softmax_loss_test
}  // namespace pagoda
