#include <pagoda/base/error.h>
#include <pagoda/base/grouped_number.h>
#include <pagoda/base/json.h>
#include <pagoda/cli/flag_adder.h>
#include <pagoda/cli/run_flags.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "commands/commands.h"
#include "registry/known_models.h"
#include "run/warned_devices.h"

namespace pagoda::app {
namespace {

constexpr double kTolerance = 1e-12;  // in double precision
constexpr double kDropout = 0.5;

struct VerifyFlags {
  DeviceChoice devices;
  TrialOptions trial;
  bool json = false;
};

/// What two trials of each kind show.
struct Verdict {
  std::size_t towers = 0;
  double largest_difference = 0;  ///< of a parameter: N towers, and one with the samples of all
  bool repeatable = false;        ///< with the same seed, bit for bit

  bool equal() const { return largest_difference <= kTolerance; }
};

using Parameters = std::vector<at::Tensor>;

/// NaN where one is among the numbers.
double largest_difference(const Parameters& a, const Parameters& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].numel() == 0) continue;
    const double difference = (a[i] - b[i]).abs().max().item<double>();
    if (std::isnan(difference)) return difference;
    largest = std::max(largest, difference);
  }
  return largest;
}

bool equal_bits(const Parameters& a, const Parameters& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const at::Tensor& x, const at::Tensor& y) { return x.equal(y); });
}

Verdict verdict_on(const ModelMeasuring& model, const std::vector<Device>& devices,
                   TrialOptions trial) {
  trial.feeds = static_cast<std::int64_t>(devices.size());
  TrialOptions joined = trial;
  joined.joined = true;
  TrialOptions noisy = trial;
  noisy.type = at::kFloat;
  noisy.dropout = kDropout;
  return {
      .towers = devices.size(),
      .largest_difference = largest_difference(model.parameters_after(devices, trial),
                                               model.parameters_after({devices.front()}, joined)),
      .repeatable = equal_bits(model.parameters_after(devices, noisy),
                               model.parameters_after(devices, noisy))};
}

void print_json(const Verdict& verdict, std::int64_t steps) {
  JsonWriter json;
  json.begin_object().key("towers").value(static_cast<std::int64_t>(verdict.towers));
  json.key("steps").value(steps).key("largest_difference").value(verdict.largest_difference);
  json.key("tolerance").value(kTolerance).key("equal").value(verdict.equal());
  json.key("repeatable").value(verdict.repeatable).end_object();
  std::puts(json.text().c_str());
}

void print_text(const Verdict& verdict, const TrialOptions& trial) {
  std::printf(
      "%-4s %s with %s each equal%s one tower with %lld: largest difference of a "
      "parameter after %s %.2g (double precision, at most %.0e)\n",
      verdict.equal() ? "ok" : "FAIL",
      counted(static_cast<std::int64_t>(verdict.towers), "tower").c_str(),
      counted(trial.batch_size, "sample").c_str(), verdict.towers == 1 ? "s" : "",
      static_cast<long long>(trial.batch_size) * static_cast<long long>(verdict.towers),
      counted(trial.steps, "step").c_str(), verdict.largest_difference, kTolerance);
  std::printf("%-4s two runs with the same seed are equal bit for bit, with dropout\n",
              verdict.repeatable ? "ok" : "FAIL");
}

int verify(const ModelMeasuring& model, const VerifyFlags& flags) {
  if (flags.trial.optimizer.max_tower_grad_norm > 0) {
    throw UsageError(
        "--max-tower-grad-norm clips each tower's gradient by itself, with which N towers do not "
        "equal one; take --max-grad-norm");
  }
  const WarnedDevices chosen(flags.devices);
  const Verdict verdict = verdict_on(model, chosen.list(), flags.trial);
  flags.json ? print_json(verdict, flags.trial.steps) : print_text(verdict, flags.trial);
  return verdict.equal() && verdict.repeatable ? 0 : 1;
}

/// Adds `pagoda verify MODEL`.
void add_model_check(CLI::App& verify_command, Action& action, const KnownModel& model) {
  CLI::App* command =
      verify_command.add_subcommand(model.name, model.about + "; on made-up samples");
  const std::shared_ptr<ModelMeasuring> measuring = model.measuring();
  const auto flags = std::make_shared<VerifyFlags>();
  FlagAdder add(*command);
  add.count("--batch-size", flags->trial.batch_size, "samples for each tower");
  add.count("--steps", flags->trial.steps, "steps of each run");
  add.option("--seed", flags->trial.seed, "of data, initial values and dropout")
      ->check(any_whole_number());
  add.flag("--json", flags->json, "print a JSON object instead of text");
  add_device_flags(*command, flags->devices);
  add_parameters_flag(*command, flags->trial.placement);
  add_optimizer_flags(*command, flags->trial.optimizer);
  measuring->add_flags(*command);
  command->callback([measuring, flags, &action] {
    action = [measuring, flags] { return verify(*measuring, *flags); };
  });
}

}  // namespace

void add_verify_command(CLI::App& program, Action& action) {
  CLI::App* command =
      program.add_subcommand("verify", "Show that N towers compute what one does, on this machine");
  command->require_subcommand(1);
  for (const KnownModel& model : known_models()) {
    if (model.measuring) add_model_check(*command, action, model);
  }
}

}  // namespace pagoda::app
