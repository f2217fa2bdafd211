// CIFAR-10 to 93 % on a few cores: a small ResNet with BatchNorm, trained in twelve epochs.
//
//     pagoda data cifar10
//     example_resnet --data data/cifar-10-batches-bin --out runs/resnet
//
// The file has the model, the recipe and `main`; everything else is the library's. The recipe takes
// its ideas from the nets of the CIFAR-10 speed runs (K. Jordan, arXiv 2404.00498): a first layer
// that whitens small patches, filters that begin as the identity, label smoothing, one-cycle
// schedule, alternating flips.
#include <pagoda/cli/run_program.h>
#include <pagoda/data/image_dataset.h>
#include <pagoda/run/run.h>

#include <algorithm>
#include <numeric>

#include <torch/torch.h>

namespace nn = torch::nn;
namespace functional = torch::nn::functional;

/// 3x3 convolution that begins as the identity as far as it has channels, then BatchNorm and GELU.
struct ConvNormImpl : nn::Module {
  ConvNormImpl(int from, int to)
      : conv(register_module("conv",
                             nn::Conv2d(nn::Conv2dOptions(from, to, 3).padding(1).bias(false)))),
        norm(register_module("norm", nn::BatchNorm2d(nn::BatchNorm2dOptions(to).momentum(0.4)))) {
    torch::NoGradGuard no_grad;
    nn::init::dirac_(conv->weight.narrow(0, 0, from));
  }
  torch::Tensor forward(const torch::Tensor& x) { return torch::gelu(norm(conv(x))); }
  /// The same with the largest of each 2x2 pixels.
  torch::Tensor pooled(const torch::Tensor& x) {
    return torch::gelu(norm(functional::max_pool2d(conv(x), functional::MaxPool2dFuncOptions(2))));
  }
  nn::Conv2d conv;
  nn::BatchNorm2d norm;
};
TORCH_MODULE(ConvNorm);

/// Half the size, other channels, and two layers with a way around them.
struct GroupImpl : nn::Module {
  GroupImpl(int from, int to)
      : enter(register_module("enter", ConvNorm(from, to))),
        first(register_module("first", ConvNorm(to, to))),
        second(register_module("second", ConvNorm(to, to))) {}
  torch::Tensor forward(const torch::Tensor& x) {
    const torch::Tensor around = enter->pooled(x);
    return around + second(first(around));
  }
  ConvNorm enter, first, second;
};
TORCH_MODULE(Group);

struct ResNetImpl : nn::Module {
  /// `whitening`: filters [24, 3, 2, 2] of the first layer, which stay as they are.
  explicit ResNetImpl(const torch::Tensor& whitening)
      : whiten(register_module("whiten", nn::Conv2d(nn::Conv2dOptions(3, whitening.size(0), 2)))),
        groups(register_module("groups",
                               nn::Sequential(Group(24, 64), Group(64, 256), Group(256, 256)))),
        output(register_module("output", nn::Linear(nn::LinearOptions(256, 10).bias(false)))) {
    torch::NoGradGuard no_grad;
    whiten->weight.copy_(whitening);
    whiten->weight.set_requires_grad(false);
  }
  torch::Tensor forward(const torch::Tensor& images) {
    const torch::Tensor features = groups->forward(torch::gelu(whiten(images)));
    return output(features.amax({2, 3})) / 9;
  }
  nn::Conv2d whiten;
  nn::Sequential groups;
  nn::Linear output;
};
TORCH_MODULE(ResNet);

/// Filters that turn 2x2 patches of these images into uncorrelated numbers of equal size, and their
/// negatives.
torch::Tensor whitening_filters(const torch::Tensor& images) {
  const torch::Tensor patches =
      images.unfold(2, 2, 1).unfold(3, 2, 1).permute({0, 2, 3, 1, 4, 5}).reshape({-1, 12});
  const auto [values, vectors] = torch::linalg_eigh(torch::cov(patches.t()));
  const torch::Tensor filters = (vectors / (values + 5e-4).sqrt()).t().reshape({12, 3, 2, 2});
  return torch::cat({filters, -filters});
}

pagoda::Scored score(ResNet& model, const pagoda::Batch& batch) {
  const torch::Tensor logits = model(batch.input);
  const torch::Tensor right = logits.argmax(1).eq(batch.target).to(torch::kDouble).mean();
  const auto smoothing =
      functional::CrossEntropyFuncOptions().label_smoothing(model->is_training() ? 0.2 : 0);
  return {.loss = functional::cross_entropy(logits, batch.target, smoothing),
          .metrics = {{"accuracy", right}}};
}

pagoda::ImageDataset images(const std::filesystem::path& directory, int files,
                            pagoda::ImageView view) {
  std::vector<std::filesystem::path> paths;
  for (int i = 1; i <= files; ++i)
    paths.push_back(directory / ("data_batch_" + std::to_string(i) + ".bin"));
  if (files == 0) paths.push_back(directory / "test_batch.bin");
  return {pagoda::ImageRecords::read(paths),
          {.view = view, .crop = 32, .scale = pagoda::ImageScale::channels}};
}

pagoda::RunOptions recipe() {
  pagoda::RunOptions options{.name = "resnet", .global_batch_size = 512, .epochs = 12};
  options.optimizer = {.optimizer = pagoda::OptimizerKind::nesterov,
                       .lr = 0.75,
                       .schedule = pagoda::ScheduleKind::linear,
                       .lr_warmup = 240,
                       .momentum = 0.85,
                       .l2 = 1.3e-3,
                       .ema = 0.98};
  return options;
}

int main(int argc, char** argv) {
  std::string data = "data/cifar-10-batches-bin";
  pagoda::RunProgram program(
      {.name = "resnet", .about = "Trains a small ResNet on CIFAR-10.", .defaults = recipe()});
  program.flags()
      .add_option("--data", data, "directory with CIFAR-10's binary files")
      ->capture_default_str();
  return program.main(argc, argv, [&](const pagoda::RunOptions& options) {
    const pagoda::ImageDataset train = images(data, 5, pagoda::ImageView::shifted);
    const pagoda::ImageDataset test = images(data, 0, pagoda::ImageView::centre);
    std::vector<std::int64_t> some(std::min<std::size_t>(train.size(), 2'000));
    std::iota(some.begin(), some.end(), 0);
    const torch::Tensor filters = whitening_filters(train.get(some, 0).input);
    pagoda::Run run(options, [filters] { return ResNet(filters); });
    run.step_options().parameter_rules = {{.names = "*.norm.weight", .frozen = true},
                                          {.names = "*.bias", .rate_factor = 32, .l2 = 0}};
    run.watch("accuracy", pagoda::Better::more);
    return run.train(train, test, score);
  });
}
