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

TEST(NetworkFlagsTest, ThereAreLearntPositionsForTheLongestSequence) {
  NetworkFlags network;
  network.architecture = "transformer";
  network.positions = "learnt";
  TextFlags text;
  const auto positions = [&](std::int64_t max_length) {
    text.max_length = max_length;
    const NetworkOptions chosen =
        chosen_network(network, {.source_vocabulary = 10,
                                 .target_vocabulary = 10,
                                 .longest_sequence = text.longest_sequence()});
    return std::get<TransformerOptions>(chosen).max_positions;
  };
  EXPECT_EQ(positions(50), TransformerOptions{}.max_positions);
  EXPECT_EQ(positions(3000), 3001);
  text.subword_sampling = 0.3;  // may double a sequence
  EXPECT_EQ(positions(3000), 6001);
}

}  // namespace seq2seq_flags_test
}  // namespace pagoda::app
