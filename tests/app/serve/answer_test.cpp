#include "serve/answer.h"

#include <gtest/gtest.h>

namespace pagoda::app {
namespace answer_test {

Translation made_up(const std::string& text, double score) {
  return {.text = text,
          .score = score,
          .tokens = {text, "."},
          .attention = AttentionWeights{.source = {"s", "t"},
                                        .target = {text},
                                        .weights = at::tensor({0.25, 0.75}).unsqueeze(0)}};
}

TEST(AnswerTest, HasHypothesesWithTextAndScoreForEachLine) {
  const TranslateRequest request{.lines = {"a", "b \"c\""}};
  EXPECT_EQ(
      answer_json(request, {{made_up("A", -0.5), made_up("B", -1)}, {{}}}),
      R"({"translations":[{"source":"a","hypotheses":[{"text":"A","score":-0.5},)"
      R"({"text":"B","score":-1}]},{"source":"b \"c\"","hypotheses":[{"text":"","score":0}]}]})"
      "\n");
  EXPECT_EQ(answer_json({}, {}), "{\"translations\":[]}\n");
}

TEST(AnswerTest, HasTokensOfAllAndAttentionOfTheBestWhereTheyAreWanted) {
  const TranslateRequest request{.lines = {"a"}, .decoding = {.attention = true}, .tokens = true};
  EXPECT_EQ(
      answer_json(request, {{made_up("A", -0.5), made_up("B", -1)}}),
      R"({"translations":[{"source":"a","hypotheses":[{"text":"A","score":-0.5,"tokens":["A","."],)"
      R"("attention":{"source":["s","t"],"target":["A"],"weights":[[0.25,0.75]]}},)"
      R"({"text":"B","score":-1,"tokens":["B","."]}]}]})"
      "\n");
}

TEST(AnswerTest, IsUtf8WhateverAModelSays) {
  const TranslateRequest request{.lines = {"a"}};
  EXPECT_NE(answer_json(request, {{made_up("\xff", -0.5)}}).find("\xEF\xBF\xBD"),
            std::string::npos);
  EXPECT_EQ(error_json("a \"b\"\n\xff"), "{\"error\":\"a \\\"b\\\"\\u000a\xEF\xBF\xBD\"}\n");
}

}  // namespace answer_test
}  // namespace pagoda::app
