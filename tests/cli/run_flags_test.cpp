#include <pagoda/base/error.h>
#include <pagoda/cli/run_flags.h>

#include <algorithm>

#include <gtest/gtest.h>

namespace pagoda {
namespace run_flags_test {

TEST(RunFlagsTest, WhatTheCommandLineSaysReachesTheFlags) {
  DeviceChoice flags;
  CLI::App command("a command", "command");
  add_device_flags(command, flags);
  command.parse("--devices sim:3 --cores-per-tower 2 --memory-limit 2GiB --memory-growth off");
  EXPECT_EQ(flags.devices, "sim:3");
  EXPECT_EQ(flags.options.cores_per_tower, 2);
  EXPECT_EQ(flags.memory.limit_bytes, std::int64_t{2} << 30);
  EXPECT_FALSE(flags.memory.growth);
}

TEST(RunFlagsTest, LimitAndFractionExcludeEachOther) {
  DeviceChoice flags;
  CLI::App command("a command", "command");
  add_device_flags(command, flags);
  EXPECT_THROW(command.parse("--memory-limit 1GiB --memory-fraction 0.5"), CLI::Error);
}

TEST(RunFlagsTest, WhatCannotBeReadIsAnErrorOfTheCommandLine) {
  const auto refused = [](const std::string& arguments) {
    RunOptions options;
    CLI::App command("a command", "command");
    add_run_flags(command, options);
    EXPECT_THROW(command.parse(arguments), CLI::ParseError) << arguments;
  };
  for (const char* arguments :
       {"--memory-limit 2elephants", "--valid-every five", "--trace-steps 3:2",
        "--stage-layers 2,,2", "--stage-layers two", "--optimizer adom", "--parameters anywhere",
        "--max-time 0", "--seed -1", "--batch-size 0", "--epochs 1 --max-steps 2"})
    refused(arguments);
}

TEST(RunFlagsTest, EveryFlagReachesItsField) {
  RunOptions options;
  CLI::App command("a command", "command");
  add_run_flags(command, options);
  command.parse(
      "--optimizer nesterov --schedule cosine --update async --max-staleness 3 --parameters host "
      "--valid-every 0.5e --save-every 7 --trace-steps 2:4 --max-time 1.5 --stages 2 "
      "--stage-layers 2,10 --output-layer every-stage --pipeline-schedule gpipe --log-format json "
      "--on-non-finite skip --overwrite --seed 18446744073709551615 --init-from w.pt "
      "--init-partially --init-remove-prefix module. --init-add-prefix backbone. "
      "--precision fp16 --matmul high --loss-scale 1024 --loss-scale-steps 7 --loss-scale-factor 4 "
      "--loss-scale-least 2 --loss-scale-most 4096");
  EXPECT_EQ(options.optimizer.optimizer, OptimizerKind::nesterov);
  EXPECT_EQ(options.optimizer.schedule, ScheduleKind::cosine);
  EXPECT_EQ(options.update, UpdateKind::async);
  EXPECT_EQ(options.max_staleness, 3);
  EXPECT_EQ(options.parameters, ParameterPlacement::host);
  EXPECT_EQ(options.valid_every, every_epochs(0.5));
  EXPECT_EQ(options.save_every, every_steps(7));
  EXPECT_EQ(options.trace_steps, (StepRange{2, 4}));
  EXPECT_EQ(options.max_time->count(), 1.5);
  EXPECT_EQ(options.init_from, "w.pt");
  EXPECT_FALSE(init_options(options).strict);
  EXPECT_EQ(init_options(options).remove_prefix, "module.");
  EXPECT_EQ(init_options(options).add_prefix, "backbone.");
  EXPECT_EQ(options.stages.cut.layers_per_stage, (std::vector<int>{2, 10}));
  EXPECT_EQ(options.stages.cut.output, OutputPlace::every_stage);
  EXPECT_EQ(options.stages.pipeline.schedule, PipelineSchedule::gpipe);
  EXPECT_EQ(options.log_format, LogFormat::json);
  EXPECT_EQ(options.on_non_finite, NonFinite::skip);
  EXPECT_TRUE(options.overwrite);
  EXPECT_EQ(tower_options(options).precision, Precision::fp16);
  EXPECT_EQ(options.matmul, MatmulPrecision::high);
  const LossScale scale = step_options(options).loss_scale;
  EXPECT_EQ(scale.initial, 1024);
  EXPECT_EQ(scale.growth_steps, 7);
  EXPECT_EQ(scale.factor, 4);
  EXPECT_EQ(scale.least, 2);
  EXPECT_EQ(scale.most, 4096);
  EXPECT_EQ(options.seed, 18446744073709551615u);
}

TEST(RunFlagsTest, EveryOptionThatMayChangeExists) {
  RunOptions options;
  CLI::App command("a command", "command");
  add_run_flags(command, options);
  const std::vector<std::string> of_commands{"json", "config", "preset", "dump-config"};
  for (const std::string& name : changeable_options()) {
    const bool is_flag = command.get_option_no_throw("--" + name) != nullptr;
    EXPECT_NE(is_flag, std::count(of_commands.begin(), of_commands.end(), name) > 0) << name;
  }
}

}  // namespace run_flags_test
}  // namespace pagoda
