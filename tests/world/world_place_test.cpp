#include <pagoda/base/error.h>
#include <pagoda/world/world_place.h>

#include <map>
#include <string>

#include <gtest/gtest.h>

namespace pagoda {
namespace world_place_test {

using Variables = std::map<std::string, std::string>;

std::optional<WorldPlace> place_in(const Variables& variables) {
  return launched_place([&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

std::string refusal(const Variables& variables) {
  try {
    place_in(variables);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

const Variables kTorchrun{{"RANK", "3"},
                          {"WORLD_SIZE", "4"},
                          {"LOCAL_RANK", "1"},
                          {"LOCAL_WORLD_SIZE", "2"},
                          {"MASTER_ADDR", "a.example"},
                          {"MASTER_PORT", "1234"}};

Variables with(Variables variables, const std::string& name, const std::string& value) {
  variables[name] = value;
  return variables;
}

TEST(WorldPlaceTest, AProcessWithoutALauncherIsAlone) {
  EXPECT_FALSE(place_in({}));
  EXPECT_FALSE(place_in({{"MASTER_ADDR", "a"}, {"RANK", "1"}})) << "no size";
}

TEST(WorldPlaceTest, TheOnlyProcessOfALauncherIsAlone) {
  EXPECT_FALSE(place_in({{"RANK", "0"}, {"WORLD_SIZE", "1"}, {"MASTER_ADDR", "a"}}));
  EXPECT_FALSE(place_in({{"PMI_RANK", "0"}, {"PMI_SIZE", "1"}}));
}

TEST(WorldPlaceTest, TorchrunSaysEverything) {
  const WorldPlace expected{
      .rank = 3, .size = 4, .local_rank = 1, .local_size = 2, .master = "a.example", .port = 1234};
  EXPECT_EQ(place_in(kTorchrun), expected);
  EXPECT_TRUE(place_in(with(kTorchrun, "TORCHELASTIC_USE_AGENT_STORE", "True"))->launcher_serves);
  EXPECT_FALSE(place_in(with(kTorchrun, "TORCHELASTIC_USE_AGENT_STORE", "False"))->launcher_serves);
}

TEST(WorldPlaceTest, SlurmNamesItsFirstNode) {
  const Variables step{{"SLURM_PROCID", "5"},      {"SLURM_STEP_NUM_TASKS", "7"},
                       {"SLURM_LOCALID", "1"},     {"SLURM_NODEID", "2"},
                       {"SLURM_JOB_ID", "123456"}, {"SLURM_STEP_ID", "2"},
                       {"SLURM_NTASKS", "9"},      {"SLURM_STEP_TASKS_PER_NODE", "2(x3),1"}};
  for (const auto& [list, first] : Variables{{"node[03-07,9],other", "node03"},
                                             {"node[3,5]", "node3"},
                                             {"a,b[1-2]", "a"},
                                             {"single", "single"}}) {
    const WorldPlace expected{.rank = 5,
                              .size = 7,
                              .local_rank = 1,
                              .local_size = 2,
                              .master = first,
                              .port = 20'000 + 3456 + 34};
    EXPECT_EQ(place_in(with(step, "SLURM_STEP_NODELIST", list)), expected) << list;
  }
  EXPECT_EQ(place_in(with(with(step, "SLURM_STEP_NODELIST", "a"), "SLURM_NODEID", "3"))->local_size,
            1);
  EXPECT_EQ(place_in(with(step, "MASTER_ADDR", "b"))->master, "b");
}

TEST(WorldPlaceTest, ABatchScriptOfSlurmIsNotAStepOfSrun) {
  EXPECT_FALSE(place_in({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}, {"SLURM_LOCALID", "0"}}));
}

TEST(WorldPlaceTest, MpiOnOneMachineNeedsNoMaster) {
  const WorldPlace expected{.rank = 1, .size = 2, .local_rank = 1, .local_size = 2};
  EXPECT_EQ(place_in({{"OMPI_COMM_WORLD_RANK", "1"},
                      {"OMPI_COMM_WORLD_SIZE", "2"},
                      {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                      {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}}),
            expected);
  EXPECT_EQ(place_in({{"PMI_RANK", "1"},
                      {"PMI_SIZE", "2"},
                      {"MPI_LOCALRANKID", "1"},
                      {"MPI_LOCALNRANKS", "2"}}),
            expected);
}

TEST(WorldPlaceTest, MpiOnSeveralMachinesMustBeToldTheMaster) {
  const Variables two{{"OMPI_COMM_WORLD_RANK", "1"},
                      {"OMPI_COMM_WORLD_SIZE", "2"},
                      {"OMPI_COMM_WORLD_LOCAL_RANK", "0"},
                      {"OMPI_COMM_WORLD_LOCAL_SIZE", "1"}};
  EXPECT_EQ(refusal(two),
            "rank 1 of 2 does not know the machine of rank 0; set the variable MASTER_ADDR to its "
            "name or address for all processes");
  EXPECT_EQ(place_in(with(two, "MASTER_ADDR", "10.0.0.1"))->master, "10.0.0.1");
}

TEST(WorldPlaceTest, NamesTheVariableThatIsWrong) {
  for (const auto& [name, value] : Variables{{"RANK", "4"},
                                             {"WORLD_SIZE", "none"},
                                             {"LOCAL_RANK", "-1"},
                                             {"LOCAL_WORLD_SIZE", "5"},
                                             {"MASTER_PORT", "65536"}}) {
    EXPECT_NE(refusal(with(kTorchrun, name, value)).find("the variable " + name + " is '" + value),
              std::string::npos)
        << name;
  }
  EXPECT_NE(
      refusal(with(kTorchrun, "RANK", "1x")).find("RANK is '1x'; it must be a number from 0 to 3"),
      std::string::npos);
}

}  // namespace world_place_test
}  // namespace pagoda
