#include <pagoda/cli/command_description.h>

#include <gtest/gtest.h>

namespace pagoda {
namespace command_description_test {

struct Sample {
  Sample() {
    CLI::App* train = app.add_subcommand("train", "Train something");
    train->add_option("--rate,-r", rate, "how fast")->capture_default_str()->group("Speed");
    train->add_option("--how", how, "in which way")
        ->check(CLI::IsMember(std::vector<std::string>{"well", "badly"}));
    train->add_option("--many", many, "several");
    train->add_flag("--quick", quick, "no waiting");
    train->add_flag("--secret", quick, "not for users")->group("");
    train->add_option("RUN", run, "where")->required();
    train->add_option("FILE,--file", file, "either way");
    app.add_subcommand("hidden", "not for users")->group("");
  }

  CLI::App app{"Does things.", "thing"};
  double rate = 0.5;
  std::string how;
  std::vector<std::string> many;
  bool quick = false;
  std::string run;
  std::string file;
};

TEST(CommandDescriptionTest, HasWhatHelpHas) {
  const Sample sample;
  const CommandDescription program = describe(sample.app);
  EXPECT_EQ(program.name, "thing");
  EXPECT_EQ(program.about, "Does things.");
  ASSERT_EQ(program.commands.size(), 1) << "the hidden one is left out";
  const CommandDescription& train = program.commands[0];
  EXPECT_EQ(train.name, "thing train");
  ASSERT_EQ(train.options.size(), 6) << "with --help, without the hidden one";
  const OptionDescription& rate = train.options[1];
  EXPECT_EQ(rate.names, (std::vector<std::string>{"-r", "--rate"}));
  EXPECT_EQ(rate.value, "FLOAT");
  EXPECT_EQ(rate.default_value, "0.5");
  EXPECT_EQ(rate.group, "Speed");
  EXPECT_EQ(train.options[2].words, (std::vector<std::string>{"well", "badly"}));
  EXPECT_TRUE(train.options[3].repeats);
  EXPECT_EQ(train.options[4].value, "") << "a flag";
  EXPECT_EQ(train.options[5].names, std::vector<std::string>{"--file"});
  ASSERT_EQ(train.arguments.size(), 2);
  EXPECT_EQ(train.arguments[1].names, std::vector<std::string>{"FILE"});
  EXPECT_EQ(train.arguments[0].names, std::vector<std::string>{"RUN"});
  EXPECT_TRUE(train.arguments[0].required);
}

TEST(CommandDescriptionTest, ListsCommandsBeforeThoseBelowThem) {
  const Sample sample;
  const CommandDescription program = describe(sample.app);
  const auto all = all_commands(program);
  ASSERT_EQ(all.size(), 2);
  EXPECT_EQ(all[0]->name, "thing");
  EXPECT_EQ(all[1]->name, "thing train");
}

TEST(CommandDescriptionTest, IsJsonForOthers) {
  const Sample sample;
  const std::string json = description_json(describe(sample.app));
  EXPECT_TRUE(json.starts_with(R"({"name":"thing","about":"Does things.","arguments":[],)"))
      << json;
  EXPECT_NE(json.find(R"("words":["well","badly"])"), std::string::npos) << json;
}

}  // namespace command_description_test
}  // namespace pagoda
