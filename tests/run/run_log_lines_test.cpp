#include "run/run_log_lines.h"

#include <gtest/gtest.h>

namespace pagoda {
namespace run_log_lines_test {

const std::string kDate = "2026-01-31 12:34:56 ";

Evaluation evaluation_of(double loss, double accuracy) {
  return {.loss = loss, .metrics = {{"accuracy", accuracy}}};
}

TEST(RunLogLinesTest, WhatWasWrittenIsFoundAgain) {
  const std::string log = kDate + validation_line(10, evaluation_of(2, 0.25), true) + "\n" + kDate +
                          validation_line(20, evaluation_of(1.5, 0.5), true) + "\n" + kDate +
                          validation_line(30, evaluation_of(1.75, 0.375), false) + "\n" + kDate +
                          end_line("stopped early", 30) + "\n";
  const LogFacts facts = log_facts(log);
  EXPECT_EQ(facts.best, "loss 1.5000, accuracy 0.5000");
  EXPECT_EQ(facts.best_step, 20);
  EXPECT_EQ(facts.end, "stopped early");
  EXPECT_EQ(facts.end_step, 30);
}

TEST(RunLogLinesTest, TheLastEndCounts) {
  const LogFacts facts = log_facts(kDate + end_line("stopped", 5) + "; the same command resumes\n" +
                                   kDate + end_line("finished", 9) + "\n");
  EXPECT_EQ(facts.end, "finished");
  EXPECT_EQ(facts.end_step, 9);
}

TEST(RunLogLinesTest, OtherLinesSayNothing) {
  for (const char* log : {"", "\n", "short\n", "2026-01-31 12:34:56\n",
                          "2026-01-31 12:34:56 epoch 1, step 2/3: loss 1\n"}) {
    const LogFacts facts = log_facts(log);
    EXPECT_EQ(facts.best, "") << log;
    EXPECT_EQ(facts.end, "") << log;
  }
  EXPECT_EQ(log_facts(kDate + "x (best so far)").best, "") << "no colon, nothing after it";
}

}  // namespace run_log_lines_test
}  // namespace pagoda
