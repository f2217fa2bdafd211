#include <pagoda/base/error.h>
#include <pagoda/data/batches.h>
#include <pagoda/data/torch_dataset.h>

#include <atomic>
#include <thread>

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace pagoda {
namespace torch_dataset_test {

/// Sample i is (i, i squared). Not safe for threads: it notices two in it at once.
class Squares : public torch::data::datasets::Dataset<Squares> {
 public:
  torch::data::Example<> get(std::size_t index) override {
    if (busy_) throw std::logic_error("two threads in one copy");
    busy_ = true;
    std::this_thread::yield();
    const auto value = static_cast<float>(index);
    torch::data::Example<> example{torch::tensor({value}), torch::tensor(value * value)};
    busy_ = false;
    return example;
  }
  std::optional<std::size_t> size() const override { return 101; }

 private:
  bool busy_ = false;
};

class Endless : public torch::data::datasets::Dataset<Endless> {
 public:
  torch::data::Example<> get(std::size_t) override { return {}; }
  std::optional<std::size_t> size() const override { return std::nullopt; }
};

template <class Source>
void expect_squares(const TorchDataset<Source>& data) {
  EXPECT_EQ(data.size(), 101);
  double sum = 0;
  for (auto& feeds : batches(data, 3, {.batch_size = 4, .loader_threads = 3})) {
    for (const auto& feed : feeds) {
      EXPECT_EQ(feed.input.size(1), 1);
      EXPECT_TRUE(feed.input.squeeze(1).square().equal(feed.target));
      sum += feed.input.sum().template item<double>();
    }
  }
  EXPECT_EQ(sum, 100 * 101 / 2) << "each sample once";
}

TEST(TorchDatasetTest, GivesEachSampleOnce) { expect_squares(TorchDataset(Squares())); }

TEST(TorchDatasetTest, TakesDataSetsThatStackByThemselves) {
  expect_squares(TorchDataset(Squares().map(torch::data::transforms::Stack<>())));
}

TEST(TorchDatasetTest, NeedsASize) { EXPECT_THROW(TorchDataset{Endless()}, UsageError); }

}  // namespace torch_dataset_test
}  // namespace pagoda
