#include <pagoda/base/json.h>
#include <pagoda/cli/flag_adder.h>
#include <pagoda/cli/run_flags.h>
#include <pagoda/data/batch.h>
#include <pagoda/models/lenet5.h>
#include <pagoda/train/sync_step.h>

#include <cstdio>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <torch/nn/functional/loss.h>

#include "commands/commands.h"
#include "run/warned_devices.h"

namespace pagoda::app {
namespace {

constexpr double kTolerance = 1e-12;  // in double precision

struct VerifyFlags {
  DeviceChoice devices;
  std::optional<ParameterPlacement> parameters = std::nullopt;
  OptimizerChoice optimizer;
  std::int64_t batch_size = 16;
  std::int64_t steps = 5;
  std::uint64_t seed = 1;
  bool json = false;
};

using Parameters = std::vector<at::Tensor>;

/// The parameters after a few steps; `joined` puts the samples of all feeds into one.
struct VerifyOptions {
  at::ScalarType type = at::kDouble;
  double dropout = 0;
  bool joined = false;
  std::size_t feeds = 1;
};

std::vector<Batch> feeds_of(const VerifyFlags& flags, const VerifyOptions& options,
                            std::int64_t step) {
  at::Generator random =
      at::make_generator<at::CPUGeneratorImpl>(flags.seed + static_cast<std::uint64_t>(step));
  const auto count = static_cast<std::int64_t>(options.feeds);
  const at::Tensor input =
      at::randn({count * flags.batch_size, 3, 28, 28}, random, at::kDouble).to(options.type);
  const at::Tensor target = at::randint(10, {count * flags.batch_size}, random, at::kLong);
  if (options.joined) return {{.input = input, .target = target}};
  std::vector<Batch> feeds;
  for (std::int64_t i = 0; i < count; ++i) {
    feeds.push_back({.input = input.narrow(0, i * flags.batch_size, flags.batch_size),
                     .target = target.narrow(0, i * flags.batch_size, flags.batch_size)});
  }
  return feeds;
}

Parameters parameters_after(const std::vector<Device>& devices, const VerifyFlags& flags,
                            const VerifyOptions& options) {
  const auto make_model = [options] {
    LeNet5 model(LeNet5Options{.dropout = options.dropout});
    model->to(options.type);
    return model;
  };
  auto towers =
      make_towers(devices, make_model, {.seed = flags.seed, .placement = flags.parameters});
  SyncStep step(towers, chosen_optimizer(flags.optimizer, flags.steps),
                {.max_grad_norm = flags.optimizer.max_grad_norm > 0
                                      ? std::optional<double>(flags.optimizer.max_grad_norm)
                                      : std::nullopt,
                 .l2 = flags.optimizer.l2});
  for (std::int64_t i = 0; i < flags.steps; ++i) {
    step.run(feeds_of(flags, options, i), [](LeNet5& model, const Batch& batch) {
      return torch::nn::functional::cross_entropy(model(batch.input), batch.target);
    });
  }
  Parameters values;
  for (const auto& parameter : towers.parameters()) values.push_back(parameter.detach().clone());
  return values;
}

double largest_difference(const Parameters& a, const Parameters& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    largest = std::max(largest, (a[i] - b[i]).abs().max().item<double>());
  return largest;
}

bool equal_bits(const Parameters& a, const Parameters& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!a[i].equal(b[i])) return false;
  }
  return true;
}

int verify(const VerifyFlags& flags) {
  const WarnedDevices chosen(flags.devices);
  const std::vector<Device>& devices = chosen.list();
  const std::size_t towers = devices.size();
  const Parameters many = parameters_after(devices, flags, {.feeds = towers});
  const Parameters one =
      parameters_after({devices.front()}, flags, {.joined = true, .feeds = towers});
  const double difference = largest_difference(many, one);

  const VerifyOptions noisy{.type = at::kFloat, .dropout = 0.5, .feeds = towers};
  const bool repeatable =
      equal_bits(parameters_after(devices, flags, noisy), parameters_after(devices, flags, noisy));
  const bool equal = difference <= kTolerance;

  if (flags.json) {
    JsonWriter json;
    json.begin_object()
        .key("towers")
        .value(static_cast<std::int64_t>(towers))
        .key("steps")
        .value(flags.steps);
    json.key("largest_difference").value(difference).key("tolerance").value(kTolerance);
    json.key("equal").value(equal).key("repeatable").value(repeatable).end_object();
    std::puts(json.text().c_str());
  } else {
    std::printf(
        "%-4s %zu towers with %lld samples each equal one tower with %lld: largest difference of a "
        "parameter "
        "after %lld steps %.2g (double precision, at most %.0e)\n",
        equal ? "ok" : "FAIL", towers, static_cast<long long>(flags.batch_size),
        static_cast<long long>(flags.batch_size) * static_cast<long long>(towers),
        static_cast<long long>(flags.steps), difference, kTolerance);
    std::printf("%-4s two runs with the same seed are equal bit for bit, with dropout\n",
                repeatable ? "ok" : "FAIL");
  }
  return equal && repeatable ? 0 : 1;
}

}  // namespace

void add_verify_command(CLI::App& program, Action& action) {
  CLI::App* command =
      program.add_subcommand("verify", "Show that N towers compute what one does, on this machine");
  command->require_subcommand(1);
  auto flags = std::make_shared<VerifyFlags>();
  CLI::App* lenet5 = command->add_subcommand("lenet5", "With LeNet-5 on random images");
  FlagAdder add(*lenet5);
  add.count("--batch-size", flags->batch_size, "samples for each tower");
  add.count("--steps", flags->steps, "steps of each run");
  add.option("--seed", flags->seed, "of data, initial values and dropout")
      ->check(any_whole_number());
  add.flag("--json", flags->json, "print a JSON object instead of text");
  add_device_flags(*lenet5, flags->devices);
  add_parameters_flag(*lenet5, flags->parameters);
  add_optimizer_flags(*lenet5, flags->optimizer);
  lenet5->callback([flags, &action] { action = [flags] { return verify(*flags); }; });
}

}  // namespace pagoda::app
