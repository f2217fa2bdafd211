#include "serve/metrics.h"

#include <gtest/gtest.h>

namespace pagoda::app {
namespace metrics_test {

void expect_line(const std::string& text, const std::string& line) {
  EXPECT_NE(("\n" + text).find("\n" + line + "\n"), std::string::npos) << line << " is not in\n"
                                                                       << text;
}

TEST(ServeMetricsTest, CountRequestsByStatusAndWhatWasTranslated) {
  ServeMetrics metrics;
  for (const int status : {200, 404, 200, 503}) metrics.count_request(status);
  metrics.count_batch(3, 20);
  metrics.count_batch(1, 0);
  EXPECT_EQ(metrics.requests(), 4u);
  const std::string text = metrics.text(7);
  expect_line(text, "# TYPE pagoda_requests_total counter");
  expect_line(text, "pagoda_requests_total{status=\"200\"} 2");
  expect_line(text, "pagoda_requests_total{status=\"404\"} 1");
  expect_line(text, "pagoda_requests_total{status=\"503\"} 1");
  expect_line(text, "pagoda_sentences_total 4");
  expect_line(text, "pagoda_tokens_total 20");
  expect_line(text, "# TYPE pagoda_queue_sentences gauge");
  expect_line(text, "pagoda_queue_sentences 7");
}

TEST(ServeMetricsTest, BucketsOfAHistogramCountAllThatIsNotLarger) {
  ServeMetrics metrics;
  for (const std::size_t sentences : {1, 2, 3, 4, 300}) metrics.count_batch(sentences, 1);
  const std::string text = metrics.text(0);
  expect_line(text, "# TYPE pagoda_batch_sentences histogram");
  expect_line(text, "pagoda_batch_sentences_bucket{le=\"1\"} 1");
  expect_line(text, "pagoda_batch_sentences_bucket{le=\"2\"} 2");
  expect_line(text, "pagoda_batch_sentences_bucket{le=\"4\"} 4");
  expect_line(text, "pagoda_batch_sentences_bucket{le=\"256\"} 4");
  expect_line(text, "pagoda_batch_sentences_bucket{le=\"+Inf\"} 5");
  expect_line(text, "pagoda_batch_sentences_sum 310");
  expect_line(text, "pagoda_batch_sentences_count 5");
}

TEST(ServeMetricsTest, LatenciesAreSeconds) {
  ServeMetrics metrics;
  metrics.count_latency(0.25);
  metrics.count_latency(0.5);
  metrics.count_latency(64);
  const std::string text = metrics.text(0);
  expect_line(text, "pagoda_translate_seconds_bucket{le=\"0.1\"} 0");
  expect_line(text, "pagoda_translate_seconds_bucket{le=\"0.25\"} 1");
  expect_line(text, "pagoda_translate_seconds_bucket{le=\"10\"} 2");
  expect_line(text, "pagoda_translate_seconds_bucket{le=\"+Inf\"} 3");
  expect_line(text, "pagoda_translate_seconds_sum 64.75");
}

}  // namespace metrics_test
}  // namespace pagoda::app
