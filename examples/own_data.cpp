// Data of your own on all towers: as a pagoda::Dataset, which needs two functions, or as a
// torch::data data set that you have already.
#include <pagoda/pagoda.h>

#include <cstdio>

#include <torch/torch.h>

#include "spiral.h"

/// Points of the spiral that are moved a little, differently in every epoch. The movement is a
/// function of sample and epoch, so that a run can be repeated and resumed bit for bit.
class MovedPoints : public pagoda::Dataset {
 public:
  explicit MovedPoints(Spiral spiral) : spiral_(std::move(spiral)) {}

  std::int64_t size() const override { return spiral_.points.size(0); }

  pagoda::Batch get(std::span<const std::int64_t> samples, std::int64_t epoch) const override {
    const auto rows = torch::tensor(at::ArrayRef<std::int64_t>(samples.data(), samples.size()));
    const auto shift = torch::sin(rows + 7.0 * static_cast<double>(epoch)) * 0.01;
    return {.input = spiral_.points.index_select(0, rows) + shift.unsqueeze(1).to(torch::kFloat),
            .target = spiral_.arms.index_select(0, rows)};
  }

 private:
  Spiral spiral_;
};

/// The same points as a LibTorch user has them.
class TorchPoints : public torch::data::datasets::Dataset<TorchPoints> {
 public:
  explicit TorchPoints(Spiral spiral) : spiral_(std::move(spiral)) {}

  torch::data::Example<> get(std::size_t index) override {
    const auto row = static_cast<std::int64_t>(index);
    return {spiral_.points[row], spiral_.arms[row]};
  }
  std::optional<std::size_t> size() const override {
    return static_cast<std::size_t>(spiral_.points.size(0));
  }

 private:
  Spiral spiral_;
};

double trained_accuracy(const pagoda::Dataset& data, const Spiral& test) {
  auto towers = pagoda::make_towers(pagoda::visible_devices(), [] { return SpiralNet(); });
  pagoda::SyncStep step(towers, pagoda::Adam{.learning_rate = 0.01});
  for (auto& feeds : pagoda::batches(data, towers.size(), {.batch_size = 50, .epochs = 40})) {
    step.run(feeds, [](SpiralNet& model, const pagoda::Batch& batch) {
      return torch::nn::functional::cross_entropy(model(batch.input), batch.target);
    });
  }
  return accuracy(towers.model(0), test);
}

int main() {
  const Spiral spiral = make_spiral(1'500);
  const double own = trained_accuracy(MovedPoints(spiral), spiral);
  const double torch_data = trained_accuracy(pagoda::TorchDataset(TorchPoints(spiral)), spiral);
  std::printf("own data set: accuracy %.3f; torch::data: accuracy %.3f\n", own, torch_data);
  return own > 0.9 && torch_data > 0.9 ? 0 : 1;
}
