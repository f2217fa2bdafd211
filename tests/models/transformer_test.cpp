#include <pagoda/base/error.h>
#include <pagoda/checkpoint/state_dict.h>
#include <pagoda/models/transformer.h>
#include <pagoda/text/sequence_batches.h>

#include <algorithm>
#include <functional>
#include <future>
#include <map>
#include <string>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "support/formula_data.h"
#include "support/python_script.h"
#include "support/tiny_translation.h"

namespace pagoda {
namespace transformer_test {

// What all sequence models have is tested in sequence_model_test.cpp.

using testing::tiny_pairs;
using testing::tiny_transformer_options;

Transformer make(NormPlace norm) {
  torch::manual_seed(11);
  TransformerOptions options = tiny_transformer_options();
  options.norm = norm;
  options.row_gradients = RowGradients::dense;
  Transformer model(options);
  model->to(torch::kDouble);
  const at::NoGradGuard no_grad;  // biases and norms that are not 0 and 1
  for (auto& p : model->parameters()) p.add_(0.1 * torch::randn_like(p));
  return model;
}

TEST(TransformerTest, LossAndGradientsAreThoseOfPyTorchsLayers) {
  const SequenceBatch batch = sequence_batch(tiny_pairs(20), {0, 1, 2, 3, 4, 5, 6});
  const testing::ScratchDirectory scratch;
  const std::map<std::string, NormPlace> places{{"before", NormPlace::before},
                                                {"after", NormPlace::after}};
  std::vector<NamedTensor> given;
  for (const auto& [name, place] : places) {
    for (const auto& item : make(place)->named_parameters())
      given.push_back({name + "/" + item.key(), item.value().detach()});
    given.push_back({name + "/source", batch.source});
    given.push_back({name + "/lengths", batch.source_lengths});
    given.push_back({name + "/target", batch.target});
    given.push_back({name + "/heads", at::full({}, tiny_transformer_options().heads)});
  }
  save_state_dict(given, scratch / "in.pt");
  const auto code =
      testing::run_with_torch(scratch,
                              "sys.path.insert(0, '" PAGODA_MODELS_TESTS
                              "')\nimport pathlib, transformer_reference\n"
                              "transformer_reference.main(pathlib.Path(sys.argv[1]))\n",
                              scratch.path());
  if (!code) GTEST_SKIP() << "PAGODA_TEST_PYTHON names no Python with torch";
  ASSERT_EQ(*code, 0);
  std::map<std::string, at::Tensor> expected;
  for (const auto& [name, tensor] : read_weights(scratch / "out.pt").tensors)
    expected[name] = tensor;
  for (const auto& [name, place] : places) {
    Transformer model = make(place);
    const at::Tensor loss = model->loss(batch.source, batch.source_lengths, batch.target).loss;
    loss.backward();
    EXPECT_NEAR(loss.item<double>(), expected.at(name + "/loss").item<double>(), 1e-12);
    for (const auto& item : model->named_parameters()) {
      at::Tensor theirs = expected.at(name + "/" + item.key()).clone();
      if (item.key().ends_with("_embedding.weight")) theirs[0].zero_();  // padding never learns
      EXPECT_TRUE(at::allclose(item.value().grad(), theirs, 1e-9, 1e-12)) << name << item.key();
    }
  }
}

TEST(TransformerTest, DropoutIsOfTrainingOnly) {
  TransformerOptions options = tiny_transformer_options();
  options.dropout = options.attention_dropout = options.ffn_dropout = 0.5;
  Transformer model(options);
  const SequenceBatch batch = sequence_batch(tiny_pairs(20), {0, 1, 2});
  const auto loss = [&] {
    return model->loss(batch.source, batch.source_lengths, batch.target).loss.item<double>();
  };
  EXPECT_NE(loss(), loss());
  model->eval();
  EXPECT_EQ(loss(), loss());
}

TEST(TransformerTest, LongerThanItsLearntPositionsIsAnError) {
  TransformerOptions options = tiny_transformer_options();
  options.positions = Positions::learnt;
  options.max_positions = 3;
  Transformer model(options);
  const at::Tensor source = torch::full({1, 3}, 5, torch::kLong);
  const at::Tensor length = torch::full({1}, 3, torch::kLong);
  const auto state = model->start(source, length);
  const at::Tensor token = torch::full({1}, 2, torch::kLong);
  for (int i = 0; i < 3; ++i) model->step(token, *state);
  EXPECT_THROW(model->step(token, *state), UsageError);
}

TEST(TransformerOptionsTest, RefusesWhatCannotBe) {
  const auto refuses = [](const std::function<void(TransformerOptions&)>& change) {
    auto options = tiny_transformer_options();
    change(options);
    EXPECT_THROW(Transformer{options}, UsageError);
  };
  refuses([](TransformerOptions& o) { o.layers = 0; });
  refuses([](TransformerOptions& o) { o.hidden = 0; });
  refuses([](TransformerOptions& o) { o.heads = 3; });
  refuses([](TransformerOptions& o) { o.ffn = 0; });
  refuses([](TransformerOptions& o) { o.dropout = 1; });
  refuses([](TransformerOptions& o) { o.attention_dropout = -0.1; });
  refuses([](TransformerOptions& o) { o.max_positions = 0; });
}

// Stages of a pipeline do so. ThreadSanitizer sees what they share, whatever the timing.
TEST(TransformerTest, LayersOfBothSidesMayRunAtATime) {
  Transformer model = make(NormPlace::before);
  model->eval();
  const auto layers = model->layers();
  const auto decoder = std::find_if(layers.begin(), layers.end(), [](const Layer& layer) {
    return layer.name.starts_with("decoder");
  });
  ASSERT_NE(decoder, layers.end());
  const at::Tensor memory =
      testing::waves({1, 2, tiny_transformer_options().hidden}, 0, 0.5).to(torch::kDouble);
  // Longer and longer ones, so that places are computed anew again and again.
  const auto tokens = [](std::int64_t count) { return at::full({1, count}, 5, at::kLong); };
  const auto outputs_of = [&](const Layer& layer, bool is_encoder) {
    const at::NoGradGuard no_grad;
    std::vector<at::Tensor> outputs;
    for (std::int64_t count = 2; count < 400; count += 7) {
      const at::Tensor length = at::full({1}, is_encoder ? count : 2, at::kLong);
      outputs.push_back(
          layer.forward({is_encoder ? tokens(count) : memory, length, tokens(count)})[0]);
    }
    return outputs;
  };
  auto sources = std::async(std::launch::async, [&] { return outputs_of(layers[0], true); });
  const auto targets = outputs_of(*decoder, false);
  const auto found = sources.get();
  const auto again = outputs_of(layers[0], true);
  ASSERT_EQ(found.size(), again.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_TRUE(found[i].equal(again[i])) << i;
  for (std::size_t i = 1; i < targets.size(); ++i) {
    // A target's places do not depend on what comes after them.
    EXPECT_TRUE(targets[i].narrow(1, 0, 1).allclose(targets[0].narrow(1, 0, 1))) << i;
  }
}

}  // namespace transformer_test
}  // namespace pagoda
