#include <pagoda/base/error.h>
#include <pagoda/base/number_text.h>
#include <pagoda/models/lenet5.h>

#include <string>

#include <torch/nn/functional/pooling.h>

namespace pagoda {
namespace {

constexpr std::int64_t kKernel = 5;
constexpr std::int64_t kChannels1 = 32;
constexpr std::int64_t kChannels2 = 64;
constexpr std::int64_t kHidden = 512;

void check(const LeNet5Options& options) {
  if (options.image_size < 4 || options.image_size % 4 != 0) {
    throw UsageError("LeNet-5 halves the image twice: an image size of " +
                     std::to_string(options.image_size) + " pixels must be a multiple of 4");
  }
  if (options.channels < 1 || options.classes < 1) {
    throw UsageError("LeNet-5 needs at least 1 channel and 1 class, not " +
                     std::to_string(options.channels) + " and " + std::to_string(options.classes));
  }
  if (!(options.dropout >= 0 && options.dropout < 1)) {  // so that nan is refused too
    throw UsageError("a dropout of " + number_text(options.dropout) +
                     " is not possible; it must be in [0, 1)");
  }
}

torch::nn::Conv2d convolution(std::int64_t in, std::int64_t out) {
  return torch::nn::Conv2d(torch::nn::Conv2dOptions(in, out, kKernel).padding(kKernel / 2));
}

at::Tensor convolved(torch::nn::Conv2d& convolution, const at::Tensor& images) {
  return torch::nn::functional::max_pool2d(convolution(images).relu(),
                                           torch::nn::functional::MaxPool2dFuncOptions(2));
}

}  // namespace

LeNet5Impl::LeNet5Impl(const LeNet5Options& options) {
  check(options);
  const std::int64_t side = options.image_size / 4;
  conv1_ = register_module("conv1", convolution(options.channels, kChannels1));
  conv2_ = register_module("conv2", convolution(kChannels1, kChannels2));
  hidden_ = register_module("hidden", torch::nn::Linear(kChannels2 * side * side, kHidden));
  dropout_ = register_module("dropout", torch::nn::Dropout(options.dropout));
  logits_ = register_module("logits", torch::nn::Linear(kHidden, options.classes));
}

at::Tensor LeNet5Impl::hidden_layer(const at::Tensor& x) {
  return dropout_(hidden_(x.flatten(1)).relu());
}

at::Tensor LeNet5Impl::forward(const at::Tensor& images) {
  return logits_(hidden_layer(convolved(conv2_, convolved(conv1_, images))));
}

std::vector<Layer> LeNet5Impl::layers() {
  return {
      layer("conv1", tensors_of(*conv1_),
            [this](const at::Tensor& x) { return convolved(conv1_, x); }),
      layer("conv2", tensors_of(*conv2_),
            [this](const at::Tensor& x) { return convolved(conv2_, x); }),
      layer("hidden", tensors_of(*hidden_),
            [this](const at::Tensor& x) { return hidden_layer(x); }),
      layer("logits", tensors_of(*logits_), [this](const at::Tensor& x) { return logits_(x); })};
}

}  // namespace pagoda
