// What `pagoda export RUN model.pt` wrote, in a plain single-device LibTorch program:
//
//     example_load_export model.pt DIR        prints the accuracy on DIR/test_batch.bin
//
// Nothing of Pagoda is needed for it; examples/load_export.py is the same in Python.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include <torch/torch.h>

namespace {

struct LeNet5Impl : torch::nn::Module {
  LeNet5Impl() {
    const auto convolution = [](int in, int out) {
      return torch::nn::Conv2d(torch::nn::Conv2dOptions(in, out, 5).padding(2));
    };
    conv1 = register_module("conv1", convolution(3, 32));
    conv2 = register_module("conv2", convolution(32, 64));
    hidden = register_module("hidden", torch::nn::Linear(7 * 7 * 64, 512));
    logits = register_module("logits", torch::nn::Linear(512, 10));
  }
  torch::Tensor forward(torch::Tensor x) {
    x = torch::max_pool2d(conv1(x).relu(), 2);
    x = torch::max_pool2d(conv2(x).relu(), 2);
    return logits(hidden(x.flatten(1)).relu());
  }
  torch::nn::Conv2d conv1{nullptr}, conv2{nullptr};
  torch::nn::Linear hidden{nullptr}, logits{nullptr};
};
TORCH_MODULE(LeNet5);

std::vector<char> read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

void load(LeNet5& model, const std::string& path) {
  torch::NoGradGuard no_grad;
  const auto weights = torch::pickle_load(read_bytes(path)).toGenericDict();
  for (auto& parameter : model->named_parameters()) {
    parameter.value().copy_(weights.at(parameter.key()).toTensor());
  }
}

/// Records of 1 label and 3 x 32 x 32 pixels; the model sees the centre, standardised.
std::pair<torch::Tensor, torch::Tensor> read_images(const std::string& path) {
  std::vector<char> bytes = read_bytes(path);
  const auto records =
      torch::from_blob(bytes.data(), {static_cast<std::int64_t>(bytes.size())}, torch::kUInt8)
          .reshape({-1, 3073});
  const auto images = records.slice(1, 1)
                          .reshape({-1, 3, 32, 32})
                          .slice(2, 2, 30)
                          .slice(3, 2, 30)
                          .to(torch::kFloat);
  const auto mean = images.mean({1, 2, 3}, /*keepdim=*/true);
  const auto deviation = images.std({1, 2, 3}, /*unbiased=*/false, /*keepdim=*/true);
  return {(images - mean) / deviation, records.select(1, 0).to(torch::kLong)};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s MODEL.pt DIR\n", argv[0]);
    return 2;
  }
  try {
    torch::NoGradGuard no_grad;
    LeNet5 model;
    load(model, argv[1]);
    const auto [images, labels] = read_images(std::string(argv[2]) + "/test_batch.bin");
    std::int64_t right = 0;
    for (std::int64_t i = 0; i < images.size(0); i += 500) {
      const auto guesses = model(images.slice(0, i, i + 500)).argmax(1);
      right += guesses.eq(labels.slice(0, i, i + 500)).sum().item<std::int64_t>();
    }
    std::printf("accuracy %.6f\n",
                static_cast<double>(right) / static_cast<double>(labels.size(0)));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
