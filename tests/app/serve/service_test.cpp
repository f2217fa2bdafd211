#include "serve/service.h"

#include <latch>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

namespace pagoda::app {
namespace service_test {

const ServiceOptions kNoWait = {.queue = {.max_wait = std::chrono::milliseconds(0)}, .model = {}};

/// Each line with the beam's size.
std::vector<std::vector<Translation>> echo(const std::vector<std::string>& lines,
                                           const DecodingChoice& decoding) {
  std::vector<std::vector<Translation>> found;
  for (const auto& line : lines) {
    if (line == "bad") throw std::runtime_error("a bad line");
    found.push_back({{.text = line + std::to_string(decoding.beam_size), .tokens = {"x", "y"}}});
  }
  return found;
}

TEST(TranslationServiceTest, AnswersARequestAndCountsIt) {
  TranslationService service(echo, kNoWait);
  const Reply reply = service.translate(R"({"text": ["a", "b"], "beam_size": 3})");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.type, "application/json");
  EXPECT_NE(reply.body.find("\"text\":\"b3\""), std::string::npos) << reply.body;
  const Reply metrics = service.metrics();
  EXPECT_NE(metrics.body.find("pagoda_sentences_total 2\n"), std::string::npos);
  EXPECT_NE(metrics.body.find("pagoda_tokens_total 4\n"), std::string::npos);
  EXPECT_NE(metrics.body.find("pagoda_translate_seconds_count 1\n"), std::string::npos);
}

TEST(TranslationServiceTest, ARequestWithoutSentencesHasAnEmptyAnswer) {
  TranslationService service(echo, kNoWait);
  EXPECT_EQ(service.translate(R"({"text": []})").body, "{\"translations\":[]}\n");
}

TEST(TranslationServiceTest, RefusesWhatCannotBeWith400) {
  TranslationService service(echo, kNoWait);
  const Reply reply = service.translate("{}");
  EXPECT_EQ(reply.status, 400);
  EXPECT_EQ(reply.body.find("{\"error\":\"there is no text"), 0u) << reply.body;
}

TEST(TranslationServiceTest, AFullQueueIs503WithAReason) {
  std::latch started(1);
  std::latch go(1);
  TranslationService service(
      [&](const auto& lines, const auto& decoding) {
        if (lines.front() == "first") {
          started.count_down();
          go.wait();
        }
        return echo(lines, decoding);
      },
      {.queue = {.max_wait = std::chrono::milliseconds(0), .max_lines = 1}, .model = {}});
  std::thread first([&] { EXPECT_EQ(service.translate(R"({"text": "first"})").status, 200); });
  started.wait();
  const Reply refused = service.translate(R"({"text": ["a", "b"]})");
  EXPECT_EQ(refused.status, 503);
  EXPECT_TRUE(refused.retry);
  EXPECT_NE(
      refused.body.find("the queue is full: 0 sentences wait already, of at most 1 (--max-queue)"),
      std::string::npos)
      << refused.body;
  go.count_down();
  first.join();
  service.stop();
  EXPECT_EQ(service.translate(R"({"text": "a"})").status, 503);
}

TEST(TranslationServiceTest, WorkThatFailsIs500AndBadHealthUntilItSucceedsAgain) {
  TranslationService service(echo, {.queue = kNoWait.queue, .model = "runs/fr"});
  EXPECT_EQ(service.health().body, "{\"status\":\"ok\",\"model\":\"runs/fr\"}\n");
  EXPECT_EQ(service.translate(R"({"text": "bad"})").status, 500);
  EXPECT_EQ(service.health().status, 503);
  EXPECT_EQ(service.translate(R"({"text": "good"})").status, 200);
  EXPECT_EQ(service.health().status, 200);
}

}  // namespace service_test
}  // namespace pagoda::app
