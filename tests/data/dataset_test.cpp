#include <pagoda/base/error.h>
#include <pagoda/data/batches.h>
#include <pagoda/data/dataset.h>

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace pagoda {
namespace dataset_test {

using Numbers = std::vector<std::int64_t>;

TEST(TensorDatasetTest, GivesTheRowsInTheOrderAskedFor) {
  const at::Tensor input = torch::arange(7 * 6).reshape({7, 2, 3});
  const at::Tensor target = torch::arange(7, torch::kDouble) * 10;
  const TensorDataset data(input, target);
  EXPECT_EQ(data.size(), 7);
  for (const Numbers& samples : {Numbers{3}, Numbers{6, 0, 5, 1}, Numbers{2, 2}, Numbers{}}) {
    const Batch batch = data.get(samples, 0);
    EXPECT_EQ(batch.samples, samples);
    EXPECT_EQ(batch.weight(), static_cast<double>(samples.size()));
    ASSERT_EQ(batch.input.size(0), static_cast<std::int64_t>(samples.size()));
    for (std::size_t i = 0; i < samples.size(); ++i) {
      EXPECT_TRUE(batch.input[static_cast<std::int64_t>(i)].equal(input[samples[i]]));
      EXPECT_EQ(batch.target[static_cast<std::int64_t>(i)].item<double>(), 10.0 * samples[i]);
    }
  }
}

TEST(TensorDatasetTest, DoesNotDependOnTheEpoch) {
  const TensorDataset data(torch::randn({5, 3}), torch::arange(5));
  EXPECT_TRUE(data.get(Numbers{4, 1}, 0).input.equal(data.get(Numbers{4, 1}, 9).input));
}

TEST(TensorDatasetTest, RefusesInputsWithoutTheirTargets) {
  EXPECT_THROW(TensorDataset(torch::zeros({5, 3}), torch::zeros({4})), UsageError);
  EXPECT_THROW(TensorDataset(torch::zeros({}), torch::zeros({})), UsageError);
  EXPECT_THROW(TensorDataset(torch::zeros({0, 3}), torch::zeros({1})), UsageError);
}

// The example of the header, word for word.
class Sines : public Dataset {
 public:
  std::int64_t size() const override { return 1000; }
  Batch get(std::span<const std::int64_t> samples, std::int64_t) const override {
    at::Tensor x =
        at::tensor(at::ArrayRef<std::int64_t>(samples.data(), samples.size())).to(at::kFloat);
    return {.input = x.unsqueeze(1), .target = x.sin()};
  }
};

TEST(DatasetTest, TwoFunctionsAreEnoughForOnesOwn) {
  const Sines data;
  std::int64_t seen = 0;
  for (const auto& feeds : batches(data, 3, {.batch_size = 37})) {
    for (const Batch& feed : feeds) {
      seen += feed.input.size(0);
      EXPECT_TRUE(feed.target.equal(feed.input.squeeze(1).sin()));
      EXPECT_EQ(feed.samples[0], feed.input[0].item<std::int64_t>()) << "numbered by the batches";
    }
  }
  EXPECT_EQ(seen, 1000);
}

}  // namespace dataset_test
}  // namespace pagoda
