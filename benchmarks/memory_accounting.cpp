// What counting a CPU tower's memory costs: steps of LeNet-5 with LibTorch's own allocator and with
// ours in front of it, alternating in one process, in turned orders.
//
//     cmake --build build --target benchmark_memory_accounting
//     build/benchmarks/benchmark_memory_accounting

#include <pagoda/memory/cpu_memory.h>
#include <pagoda/models/lenet5.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <ATen/Parallel.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <c10/core/CPUAllocator.h>
#include <torch/nn/functional/loss.h>

#include "bench/median.h"

namespace {

constexpr int kStepsOfARound = 10;
constexpr int kBatch = 64;
constexpr std::uint8_t kPriority = 1;  // that of Pagoda's allocator; the last of equals counts

/// Seconds of a round with this allocator.
double round_seconds(c10::Allocator* allocator, pagoda::LeNet5& model, const at::Tensor& images,
                     const at::Tensor& labels) {
  c10::SetCPUAllocator(allocator, kPriority);
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < kStepsOfARound; ++i) {
    model->zero_grad();
    torch::nn::functional::cross_entropy(model(images), labels).backward();
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 100;
  if (rounds < 1) {
    std::fprintf(stderr, "usage: memory_accounting [ROUNDS]\n");
    return 2;
  }
  at::set_num_threads(1);
  c10::Allocator* const plain = c10::GetCPUAllocator();
  const pagoda::ChargeCpuMemory charge(std::make_shared<pagoda::MemoryAccount>("cpu:0"));
  c10::Allocator* const counting = c10::GetCPUAllocator();

  pagoda::LeNet5 model;
  const at::Tensor images = at::randn({kBatch, 3, 28, 28});
  const at::Tensor labels = at::randint(10, {kBatch}, at::kLong);
  round_seconds(plain, model, images, labels);
  std::vector<double> plain_seconds;
  std::vector<double> counting_seconds;
  std::vector<double> ratios;
  for (int i = 0; i < rounds; ++i) {
    const bool plain_first = i % 2 == 0;
    if (plain_first) plain_seconds.push_back(round_seconds(plain, model, images, labels));
    counting_seconds.push_back(round_seconds(counting, model, images, labels));
    if (!plain_first) plain_seconds.push_back(round_seconds(plain, model, images, labels));
    ratios.push_back(counting_seconds.back() / plain_seconds.back());
  }
  std::printf(
      "%d rounds of %d steps: median %.2f ms a step plain, %.2f ms counted; ratio of the "
      "medians %.4f, median of the rounds' ratios %.4f\n",
      rounds, kStepsOfARound, pagoda::app::median(plain_seconds) * 1e3 / kStepsOfARound,
      pagoda::app::median(counting_seconds) * 1e3 / kStepsOfARound,
      pagoda::app::median(counting_seconds) / pagoda::app::median(plain_seconds),
      pagoda::app::median(ratios));
  return 0;
}
