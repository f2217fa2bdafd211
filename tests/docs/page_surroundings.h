#pragma once

// What the C++ blocks of the pages find besides what they show: headers, a small model, its data.

#include <pagoda/cli/run_program.h>
#include <pagoda/pagoda.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "pagoda/base/temporary_directory.h"

namespace page_surroundings {

struct SpiralNetImpl : torch::nn::Module {
  torch::Tensor forward(const torch::Tensor& points) {
    return last(torch::tanh(second(torch::tanh(first(points)))));
  }
  torch::nn::Linear first{register_module("first", torch::nn::Linear(2, 8))};
  torch::nn::Linear second{register_module("second", torch::nn::Linear(8, 8))};
  torch::nn::Linear last{register_module("last", torch::nn::Linear(8, 3))};
};
TORCH_MODULE(SpiralNet);

/// Points on the arms of a spiral [count, 2], and the numbers of their arms [count].
inline std::tuple<torch::Tensor, torch::Tensor> make_spiral(int count) {
  const torch::Tensor arms = torch::arange(count) % 3;
  const torch::Tensor radius = torch::arange(count).to(torch::kFloat) / count;
  const torch::Tensor angle = 4 * radius + arms * 2.0944;
  return {torch::stack({radius * angle.cos(), radius * angle.sin()}, 1), arms};
}

/// The tests write into a directory of their own.
class OwnDirectory : public testing::Environment {
 public:
  void SetUp() override {
    before_ = std::filesystem::current_path();
    directory_.emplace("pages");
    std::filesystem::current_path(directory_->path());
  }
  void TearDown() override {
    std::filesystem::current_path(before_);
    directory_.reset();
  }

 private:
  std::filesystem::path before_;
  std::optional<pagoda::TemporaryDirectory> directory_;
};
inline const auto* const own_directory = testing::AddGlobalTestEnvironment(new OwnDirectory);

/// Calls a page's `main`.
inline int call(int (*program)(int, char**), std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  return program(static_cast<int>(words.size()), arguments.data());
}

}  // namespace page_surroundings
