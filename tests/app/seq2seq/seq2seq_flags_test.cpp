#include "seq2seq/seq2seq_flags.h"

#include <gtest/gtest.h>

namespace pagoda::app {
namespace seq2seq_flags_test {

using Names = std::vector<std::string>;

TEST(TestTextFlagsTest, WhatIsNotGivenIsTheRuns) {
  TextFlags run;
  run.valid_source = {"s"};
  run.valid_target = {"t"};
  run.on_bad_line = "skip";
  run.bleu_pairs = 7;
  const TextFlags same = TestTextFlags{}.over(run);
  EXPECT_EQ(same.valid_source, Names{"s"});
  EXPECT_EQ(same.valid_target, Names{"t"});
  EXPECT_EQ(same.on_bad_line, "skip");
  EXPECT_EQ(same.bleu_pairs, 7);
}

TEST(TestTextFlagsTest, OtherFilesTakeThePlaceOfAllOfTheRuns) {
  TextFlags run;
  run.pairs = {"train"};
  run.valid_source = {"s"};
  run.valid_target = {"t"};
  TestTextFlags given;
  given.valid_pairs = {"p"};
  given.on_bad_line = "skip";
  given.bleu_pairs = 0;
  const TextFlags other = given.over(run);
  EXPECT_EQ(other.valid_source, Names{});
  EXPECT_EQ(other.valid_target, Names{});
  EXPECT_EQ(other.valid_pairs, Names{"p"});
  EXPECT_EQ(other.pairs, Names{"train"});
  EXPECT_EQ(other.on_bad_line, "skip");
  EXPECT_EQ(other.bleu_pairs, 0);
}

}  // namespace seq2seq_flags_test
}  // namespace pagoda::app
