#pragma once

#include <pagoda/params/layer.h>

#include <cstdint>
#include <vector>

#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/dropout.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/pimpl.h>

namespace pagoda {

/// The sizes of a LeNet-5.
struct LeNet5Options {
  std::int64_t channels = 3;     ///< of an image; 3 for colour
  std::int64_t image_size = 28;  ///< height and width in pixels; a multiple of 4
  std::int64_t classes = 10;     ///< logits for each image
  double dropout = 0;            ///< fraction of the hidden layer dropped in training
};

/// LeNet-5 as the CIFAR-10 tutorials build it: 5x5 convolution to 32 channels, pooling, 5x5
/// convolution to 64 channels, pooling, a hidden layer of 512 units, and one logit for each class.
///
/// Input: float [N, channels, image_size, image_size]; output: [N, classes].
/// Fails: UsageError for invalid options.
class LeNet5Impl : public torch::nn::Module {
 public:
  explicit LeNet5Impl(const LeNet5Options& options = {});
  /// The logits [N, classes] of images.
  at::Tensor forward(const at::Tensor& images);

  /// The same computation as layers for a pipeline: conv1, conv2, hidden, logits. They refer to the
  /// model, which must outlive them.
  std::vector<Layer> layers();

 private:
  at::Tensor hidden_layer(const at::Tensor& x);

  torch::nn::Conv2d conv1_{nullptr};
  torch::nn::Conv2d conv2_{nullptr};
  torch::nn::Linear hidden_{nullptr};
  torch::nn::Dropout dropout_{nullptr};
  torch::nn::Linear logits_{nullptr};
};
TORCH_MODULE(LeNet5);

}  // namespace pagoda
