// Towers in 16 bits come to the numbers of PyTorch under autocast, on the same weights and batch:
// autocast_reference.py computes them.

#include <pagoda/checkpoint/state_dict.h>
#include <pagoda/models/lenet5.h>
#include <pagoda/models/rnn_layer.h>
#include <pagoda/models/softmax_loss.h>
#include <pagoda/train/sync_step.h>

#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/golden.h"
#include "support/python_script.h"

namespace pagoda {
namespace autocast_reference_test {

using testing::Machine;
using testing::ScratchDirectory;

constexpr double kScale = LossScale{}.initial;
constexpr std::int64_t kTokens = 11;

using Named = std::map<std::string, at::Tensor>;

at::Tensor wave(const std::vector<std::int64_t>& shape) {
  return testing::waves(shape, 0, 0.7).to(at::kFloat);
}

/// An LSTM and an output layer: our own autograd functions.
struct RecurrentImpl : torch::nn::Module {
  at::Tensor loss(const at::Tensor& inputs, const at::Tensor& lengths, const at::Tensor& targets) {
    const at::Tensor hidden = layer(inputs, lengths).outputs.flatten(0, 1);
    return full_softmax_loss(hidden, {output, output_bias}, targets).loss;
  }

  RnnLayer layer = register_module("layer", RnnLayer(RnnLayerOptions{.input = 6, .hidden = 16}));
  at::Tensor output = register_parameter("output", wave({kTokens, 16}));
  at::Tensor output_bias = register_parameter("output_bias", wave({kTokens}));
};
TORCH_MODULE(Recurrent);

Batch image_batch() { return {.input = wave({5, 3, 8, 8}), .target = at::arange(5, at::kLong)}; }

/// Inputs are time first, so that they have no samples to cut; one feed has them all.
struct Sequences {
  at::Tensor inputs = wave({7, 4, 6});
  at::Tensor lengths = at::tensor({7, 1, 5, 3}, at::kLong);
  at::Tensor targets = at::arange(7 * 4, at::kLong).remainder(kTokens);

  double weight() const { return 1; }
  std::vector<std::int64_t> sample_numbers() const { return {}; }
  template <class Change>
  Sequences with_tensors(Change change) const {
    Sequences changed;
    changed.inputs = change(inputs);
    changed.lengths = lengths;  // they stay on the host
    changed.targets = change(targets);
    return changed;
  }
};

/// The loss and the gradients of one step.
template <class MakeModel, class F, class Loss>
Named computed(const Machine& machine, Precision precision, MakeModel make, const F& feed,
               Loss loss) {
  Named found;
  auto towers =
      make_towers(machine.devices(), make,
                  {.seed = 3, .image_format = ImageFormat::contiguous, .precision = precision});
  SyncStep step(towers, Sgd{},
                {.on_gradient = [&](const std::string& name, const at::Tensor& gradient) {
                  found[name] = gradient.clone();
                }});
  const StepResult result = step.run(std::vector<F>{feed}, loss);
  EXPECT_FALSE(result.skipped);
  found["loss"] = at::full({1}, result.loss);
  return found;
}

Named images_on(const Machine& machine, Precision precision) {
  return computed(
      machine, precision, [] { return LeNet5(LeNet5Options{.image_size = 8, .dropout = 0}); },
      image_batch(),
      [](LeNet5& model, const Batch& batch) {
        return torch::nn::functional::cross_entropy(model(batch.input), batch.target);
      });
}

Named sequences_on(const Machine& machine, Precision precision) {
  return computed(
      machine, precision, [] { return Recurrent(); }, Sequences(),
      [](Recurrent& model, const Sequences& feed) {
        return model->loss(feed.inputs, feed.lengths, feed.targets);
      });
}

/// Writes weights and batches for the script.
void write_inputs(const std::filesystem::path& path) {
  std::vector<NamedTensor> all{{"scale", at::full({1}, kScale, at::kDouble)}};
  const auto add = [&](const std::string& prefix, const torch::nn::Module& module,
                       const std::string& left_out) {
    for (const auto& [name, tensor] : state_dict(module)) {
      const std::string own =
          name.starts_with(left_out) ? name.substr(left_out.size()) : std::string(name);
      all.push_back({prefix + own, tensor.detach()});
    }
  };
  auto images = make_towers(Machine(1).devices(),
                            [] { return LeNet5(LeNet5Options{.image_size = 8, .dropout = 0}); },
                            {.seed = 3, .image_format = ImageFormat::contiguous});
  add("lenet5/", images.module(0), "");
  all.push_back({"lenet5/images", image_batch().input});
  all.push_back({"lenet5/labels", image_batch().target});
  auto recurrent = make_towers(Machine(1).devices(), [] { return Recurrent(); }, {.seed = 3});
  add("rnn/", recurrent.module(0), "layer.");
  all.push_back({"rnn/inputs", Sequences().inputs});
  all.push_back({"rnn/lengths", Sequences().lengths});
  all.push_back({"rnn/targets", Sequences().targets});
  save_state_dict(all, path);
}

/// Of the vectors, as a part of the expected one's length.
double relative(const at::Tensor& found, const at::Tensor& expected) {
  return ((found - expected).norm() / expected.norm()).item<double>();
}

TEST(AutocastReferenceTest, LossAndGradientsAreThoseOfPyTorch) {
  const ScratchDirectory scratch;
  write_inputs(scratch / "in.pt");
  const auto code = testing::run_with_torch(
      scratch,
      "sys.path.insert(0, " + ("'" + std::string(PAGODA_TRAIN_TESTS) + "'") +
          ")\nimport pathlib, autocast_reference\n"
          "autocast_reference.main(pathlib.Path(sys.argv[1]))\n",
      scratch.path());
  if (!code) GTEST_SKIP() << "PAGODA_TEST_PYTHON names no Python with torch";
  ASSERT_EQ(*code, 0);
  Named expected;
  for (const auto& [name, tensor] : read_weights(scratch / "out.pt").tensors)
    expected[name] = tensor;

  struct Case {
    Precision precision;
    double images, sequences;  // how far numbers may be apart
  };
  // The same operators of the same library for the images. Our own functions round at other places.
  for (const auto& [precision, images, sequences] :
       {Case{Precision::fp32, 1e-6, 1e-5}, Case{Precision::bf16, 1e-6, 2e-2},
        Case{Precision::fp16, 1e-6, 3e-3}}) {
    for (const auto& [model, found, tolerance] :
         {std::tuple("lenet5", images_on(Machine(1), precision), images),
          std::tuple("rnn", sequences_on(Machine(1), precision), sequences),
          std::tuple("rnn", sequences_on(Machine(1, DeviceKind::sim), precision), sequences)}) {
      for (const auto& [name, value] : found) {
        const std::string own = name.starts_with("layer.") ? name.substr(6) : name;
        const std::string full = std::string(precision_name(precision)) + "/" + model + "/" + own;
        ASSERT_TRUE(expected.contains(full)) << full;
        EXPECT_LT(relative(value.to(at::kFloat), expected[full]), tolerance) << full;
      }
    }
  }
}

}  // namespace autocast_reference_test
}  // namespace pagoda
