#include "bench/choice_report.h"

#include <gtest/gtest.h>

#include "app/bench/given_model.h"

namespace pagoda::app {
namespace choice_report_test {

TEST(ChoiceReportTest, WhatTheLinkCostsIsToldOfSeveralProcessesOnly) {
  const std::vector<Way> alone{{given_model::cards(1), ParameterPlacement::host}};
  std::vector<Way> both = alone;
  both[0].together = {.processes = 2, .devices = 2, .chosen = "sim:1", .wire = WireType::bf16};
  const std::vector<Standing> standings{{.rate = 1234, .low = 1000, .high = 2000, .rounds = 7}};
  const Choice one{.ways = alone, .standings = standings, .costs = {{}}};
  const Choice two{.ways = both, .standings = standings, .costs = {{3 << 20, 0.0125}}};
  EXPECT_EQ(choice_table({one, one.standings[0]}).find("sent a step"), std::string::npos);
  const std::string table = choice_table({two, two.standings[0]});
  EXPECT_NE(table.find("sent a step"), std::string::npos);
  EXPECT_NE(table.find("3.0 MiB"), std::string::npos) << table;
  EXPECT_NE(table.find("12.5 ms"), std::string::npos) << table;
  EXPECT_EQ(choice_json({{one, one.standings[0]}, {two, two.standings[0]}}),
            "[{\"way\":\"1 card, host\",\"samples_per_second\":1234,\"low\":1000,\"high\":2000,"
            "\"relative\":1,\"rounds\":7},{\"way\":\"2 cards in 2 processes, host, bf16\","
            "\"samples_per_second\":1234,\"low\":1000,\"high\":2000,\"relative\":1,\"rounds\":7,"
            "\"wire\":\"bf16\",\"sync_every\":1,\"same_numbers\":false,"
            "\"bytes_sent_a_step\":3145728,\"milliseconds_waited_a_step\":12.5}]\n");
}

TEST(ChoiceReportTest, SpeedUpsAreOverAnyStanding) {
  const std::vector<Way> ways(2, {given_model::cards(1), ParameterPlacement::host});
  const Choice choice{
      .ways = ways,
      .standings = {{.contender = 1, .rate = 30, .low = 30, .high = 30},
                    {.contender = 0, .rate = 20, .low = 20, .high = 20, .relative = 0.5}},
      .costs = {{}, {}}};
  const ComparedChoice compared{choice, choice.standings[1]};
  EXPECT_EQ(compared.relative(choice.standings[0]), 2);
  EXPECT_NE(choice_table(compared).find("speed-up"), std::string::npos);
}

}  // namespace choice_report_test
}  // namespace pagoda::app
