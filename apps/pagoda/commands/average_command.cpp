#include <pagoda/base/error.h>
#include <pagoda/base/grouped_number.h>
#include <pagoda/checkpoint/state_dict.h>
#include <pagoda/cli/flag_adder.h>

#include <cstdio>

#include "commands/commands.h"
#include "run/stored_run.h"

namespace pagoda::app {
namespace {

struct AverageFlags {
  std::string run;
  std::string out;
  std::int64_t last = 3;
};

/// The mean of the tensors of the same names; whole numbers are taken from the newest.
std::vector<NamedTensor> mean_of(const std::vector<Checkpoint>& checkpoints) {
  std::vector<NamedTensor> mean;
  for (const auto& [name, tensor] : checkpoints.front().model)
    mean.push_back({name, tensor.is_floating_point() ? tensor.to(at::kDouble) : tensor});
  for (std::size_t i = 1; i < checkpoints.size(); ++i) {
    for (std::size_t t = 0; t < mean.size(); ++t) {
      if (mean[t].tensor.is_floating_point()) mean[t].tensor += checkpoints[i].model[t].tensor;
    }
  }
  for (std::size_t t = 0; t < mean.size(); ++t) {
    if (!mean[t].tensor.is_floating_point()) continue;
    const auto type = checkpoints.front().model[t].tensor.scalar_type();
    mean[t].tensor = (mean[t].tensor / static_cast<double>(checkpoints.size())).to(type);
  }
  return mean;
}

int average(const AverageFlags& flags) {
  const auto files = open_checkpoints(flags.run).files();
  const auto wanted = static_cast<std::size_t>(flags.last);
  if (files.size() < wanted) {
    throw UsageError(flags.run + " has " + counted(std::ssize(files), "checkpoint") +
                     ", fewer than --last " + std::to_string(wanted) +
                     "; train with a larger --keep-last");
  }
  std::vector<Checkpoint> checkpoints;
  for (std::size_t i = 0; i < wanted; ++i) {
    checkpoints.push_back(read_checkpoint(files[i]));
    if (const auto list = differences(checkpoints.front().model, checkpoints.back().model);
        !list.empty())
      throw DataError(files[i].string() + " holds another model:" + list);
  }
  save_state_dict(mean_of(checkpoints), flags.out);
  std::printf("%s: mean of the raw weights after steps %lld to %lld\n", flags.out.c_str(),
              static_cast<long long>(checkpoints.back().state.step),
              static_cast<long long>(checkpoints.front().state.step));
  return 0;
}

}  // namespace

void add_average_command(CLI::App& program, Action& action) {
  auto flags = std::make_shared<AverageFlags>();
  CLI::App* command =
      program.add_subcommand("average", "Write the mean of a run's last checkpoints");
  command->add_option("RUN", flags->run, "directory of the run")->required();
  command->add_option("OUT", flags->out, "file to write, such as model.pt or model.safetensors")
      ->required();
  FlagAdder(*command).count("--last", flags->last, "checkpoints, from the newest on");
  command->callback([flags, &action] { action = [flags] { return average(*flags); }; });
}

}  // namespace pagoda::app
