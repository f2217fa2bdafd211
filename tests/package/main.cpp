// What a user's program looks like: a model of their own, trained on every device.
// Fails if the loss does not fall, or if LibTorch no longer throws once SentencePiece was used. Built for debugging:
// the package leaves NDEBUG to its user.
#include <pagoda/pagoda.h>

#include <cassert>
#include <cstdint>
#include <cstdio>
#include <vector>

#include <torch/nn/modules/linear.h>

#ifdef NDEBUG
#error "the package has switched the program's assertions off"
#endif

struct CurveImpl : torch::nn::Module {
  torch::Tensor forward(const torch::Tensor& input) { return output(torch::tanh(hidden(input))); }

  torch::nn::Linear hidden = register_module("hidden", torch::nn::Linear(1, 16));
  torch::nn::Linear output = register_module("output", torch::nn::Linear(16, 1));
};
TORCH_MODULE(Curve);

/// Whether memory that cannot be had is an exception, as it is without SentencePiece.
bool throws_after_sentencepiece() {
  const auto pairs = pagoda::open_builtin_pairs(pagoda::BuiltinSplit::train, 500);
  pagoda::train_sentencepiece(*pairs, pagoda::PairSide::source, "source.model", {.vocab_size = 80});
  try {
    torch::empty({std::int64_t{1} << 50});
    return false;
  } catch (const c10::Error&) {
    return true;
  }
}

int main() {
  auto towers = pagoda::make_towers(pagoda::visible_devices(), [] { return Curve(); });
  pagoda::SyncStep step(towers, pagoda::Adam{.learning_rate = 1e-2}, {.max_grad_norm = 5.0});

  std::vector<pagoda::Batch> feeds;
  for (int tower = 0; tower < towers.size(); ++tower) {
    const auto input = torch::linspace(-1, 1, 64).unsqueeze(1) + 0.01 * tower;
    feeds.push_back(pagoda::Batch{.input = input, .target = torch::sin(3 * input)});
  }

  const auto train = [&] {
    return step.run(feeds, [](Curve& model, const pagoda::Batch& batch) {
      return torch::mse_loss(model(batch.input), batch.target);
    });
  };
  {  // which reads the inputs of every operator, this program's own too
    const pagoda::PlacementLog log;
    assert(torch::ones({2, 2}).matmul(torch::ones({2, 2})).sum().item<double>() == 8);
    train();
    assert(!log.operators().empty());
  }
  const double first = train().loss;
  double last = first;
  for (int i = 0; i < 200; ++i) last = train().loss;

  pagoda::save(towers, "curve.pt");
  std::printf("%zu towers, loss %.4f -> %.4f\n", feeds.size(), first, last);
  return last < 0.5 * first && throws_after_sentencepiece() ? 0 : 1;
}
