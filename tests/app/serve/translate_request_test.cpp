#include "serve/translate_request.h"

#include <pagoda/base/error.h>

#include <gtest/gtest.h>

namespace pagoda::app {
namespace translate_request_test {

constexpr RequestLimits kSmall = {.max_sentences = 3, .max_sentence_bytes = 5, .max_beam_size = 4};

std::string refusal(const std::string& body) {
  try {
    parse_translate_request(body, kSmall);
  } catch (const DataError& error) {
    return error.what();
  }
  return "taken";
}

TEST(TranslateRequestTest, HasDefaultsForAllButTheText) {
  const TranslateRequest request = parse_translate_request(R"({"text": ["a b", "", "ç"]})");
  EXPECT_EQ(request.lines, (std::vector<std::string>{"a b", "", "ç"}));
  EXPECT_EQ(request.decoding, (DecodingChoice{.beam_size = 5, .n_best = 1, .attention = false}));
  EXPECT_FALSE(request.tokens);
  EXPECT_EQ(parse_translate_request(R"({"text": "a"})", kSmall).decoding.beam_size, 4);
}

TEST(TranslateRequestTest, TakesEveryMember) {
  const TranslateRequest request = parse_translate_request(
      R"({"text": "one", "beam_size": 4, "n_best": 3, "tokens": true, "attention": true})", kSmall);
  EXPECT_EQ(request.lines, std::vector<std::string>{"one"});
  EXPECT_EQ(request.decoding, (DecodingChoice{.beam_size = 4, .n_best = 3, .attention = true}));
  EXPECT_TRUE(request.tokens);
  EXPECT_TRUE(parse_translate_request(R"({"text": []})").lines.empty());
}

TEST(TranslateRequestTest, SaysWhatIsWrongWhichValueAndWhatIsPossible) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "the request: not JSON at byte"},
      {R"({"text": "a")", "the request: not JSON at byte"},
      {"[1]", "the request is a list; give an object"},
      {"{}", "there is no text; give"},
      {R"({"text": 3})", "text is a whole number; give text or a list of texts"},
      {R"({"text": ["a", null]})", "text[1] is null; give text"},
      {R"({"text": ["a", "b", "c", "d"]})", "text has 4 sentences, of at most 3 (--max-sentences)"},
      {R"({"text": ["a", "123456"]})", "text[1] has 6 bytes, of at most 5 (--max-sentence)"},
      {R"({"text": "a\nb"})", "text has a line's end at byte 2"},
      {R"({"text": "ab\u0000"})", "text has a NUL at byte 3"},
      {R"({"text": "a", "beam_size": 5})",
       "beam_size is 5; it can be from 1 to 4 (--max-beam-size)"},
      {R"({"text": "a", "beam_size": 0})", "beam_size is 0; it can be from 1 to 4"},
      {R"({"text": "a", "beam_size": 2.5})", "beam_size is a number; give a whole number"},
      {R"({"text": "a", "beam_size": 2, "n_best": 3})",
       "n_best is 3; it can be from 1 to 2, the beam"},
      {R"({"text": "a", "n_best": "1"})", "n_best is text; give a whole number"},
      {R"({"text": "a", "attention": 1})", "attention is a whole number; give true or false"},
      {R"({"text": "a", "tokens": null})", "tokens is null; give true or false"},
      {R"({"text": "a", "beam": 3})",
       "\"beam\" is no member of a request; known are text, beam_size"},
      {R"({"text": "a", "text": "b"})", "twice"},
  };
  for (const auto& [body, expected] : cases)
    EXPECT_NE(refusal(body).find(expected), std::string::npos) << body << ": " << refusal(body);
}

TEST(TranslateRequestTest, ShowsNoLongNamesOfStrangers) {
  const std::string name(100'000, 'x');
  EXPECT_LT(refusal(R"({"text": "a", ")" + name + R"(": 1})").size(), 200u);
}

TEST(TranslateRequestTest, AttentionIsForFewSentences) {
  std::string texts = "\"a\"";
  for (std::size_t i = 1; i < kMostAttentionSentences; ++i) texts += ", \"a\"";
  const auto with_attention = [](const std::string& list) {
    return parse_translate_request(R"({"attention": true, "text": [)" + list + "]}");
  };
  EXPECT_EQ(with_attention(texts).lines.size(), kMostAttentionSentences);
  EXPECT_THROW(with_attention(texts + ", \"a\""), DataError);
}

}  // namespace translate_request_test
}  // namespace pagoda::app
