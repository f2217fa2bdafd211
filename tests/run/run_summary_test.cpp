#include <pagoda/run/run_summary.h>

#include <gtest/gtest.h>

namespace pagoda {
namespace run_summary_test {

RunSummary some_summary() {
  return {.towers = 2,
          .unit = "tokens",
          .steps = 1,
          .samples = 3000,
          .seconds = 2,
          .loss = 0.25,
          .devices = {Device{.kind = DeviceKind::sim, .index = 0}},
          .memory = {MemoryUse{.in_use = 1024, .peak = 2048}},
          .validation = Evaluation{.loss = 0.5, .metrics = {{"bleu", 12.25}}}};
}

TEST(RunSummaryTest, TheTextIsOneLineWithRatesValidationAndMemory) {
  EXPECT_EQ(summary_text(some_summary()),
            "finished: 2 towers, 1 step, 3,000 tokens in 2.0 s, 1,500 tokens/s; validation loss "
            "0.5000, validation bleu 12.2500; memory sim:0 1.0 KiB (peak 2.0 KiB)");
}

TEST(RunSummaryTest, TheJsonHasTheUnitInItsNames) {
  const std::string json = summary_json(some_summary());
  for (const char* part : {"\"end\":\"finished\"", "\"tokens\":3000", "\"tokens_per_second\":1500",
                           "\"validation_bleu\":12.25", "\"memory_peak_bytes\":[2048]"})
    EXPECT_NE(json.find(part), std::string::npos) << part << " in " << json;
}

TEST(RunSummaryTest, ARunWithoutTimeHasNoRate) { EXPECT_EQ(RunSummary{}.samples_per_second(), 0); }

}  // namespace run_summary_test
}  // namespace pagoda
