#include "serve/metrics.h"

#include <pagoda/base/number_text.h>

#include <algorithm>

namespace pagoda::app {
namespace {

std::string heading(const std::string& name, const char* type, const char* about) {
  return "# HELP " + name + " " + about + "\n# TYPE " + name + " " + type + "\n";
}

std::string single_value(const std::string& name, const char* type, const char* about,
                         std::uint64_t value) {
  return heading(name, type, about) + name + " " + std::to_string(value) + "\n";
}

std::string histogram_text(const std::string& name, const char* about,
                           const CountHistogram& histogram) {
  std::string text = heading(name, "histogram", about);
  std::uint64_t total = 0;  // a bucket counts all that is not larger
  for (std::size_t i = 0; i < histogram.counts.size(); ++i) {
    total += histogram.counts[i];
    const std::string bound =
        i < histogram.bounds.size() ? number_text(histogram.bounds[i]) : std::string("+Inf");
    text += name + "_bucket{le=\"" + bound + "\"} " + std::to_string(total) + "\n";
  }
  text += name + "_sum " + number_text(histogram.sum) + "\n";
  return text + name + "_count " + std::to_string(total) + "\n";
}

}  // namespace

void CountHistogram::add(double value) {
  const auto place = std::lower_bound(bounds.begin(), bounds.end(), value) - bounds.begin();
  ++counts[static_cast<std::size_t>(place)];
  sum += value;
}

void ServeMetrics::count_request(int status) {
  const std::lock_guard lock(mutex_);
  ++requests_[status];
}

void ServeMetrics::count_latency(double seconds) {
  const std::lock_guard lock(mutex_);
  seconds_.add(seconds);
}

void ServeMetrics::count_batch(std::size_t sentences, std::size_t tokens) {
  const std::lock_guard lock(mutex_);
  sentences_ += sentences;
  tokens_ += tokens;
  batches_.add(static_cast<double>(sentences));
}

std::uint64_t ServeMetrics::requests() const {
  const std::lock_guard lock(mutex_);
  std::uint64_t total = 0;
  for (const auto& [status, count] : requests_) total += count;
  return total;
}

std::string ServeMetrics::text(std::size_t waiting) const {
  const std::lock_guard lock(mutex_);
  const std::string requests = "pagoda_requests_total";
  std::string text =
      heading(requests, "counter", "Requests of any kind, by the status of the answer.");
  for (const auto& [status, count] : requests_)
    text +=
        requests + "{status=\"" + std::to_string(status) + "\"} " + std::to_string(count) + "\n";
  text += single_value("pagoda_sentences_total", "counter", "Sentences translated.", sentences_);
  text +=
      single_value("pagoda_tokens_total", "counter", "Tokens of the best translations.", tokens_);
  text += single_value("pagoda_queue_sentences", "gauge", "Sentences that wait now.", waiting);
  text += histogram_text("pagoda_batch_sentences", "Sentences decoded together.", batches_);
  text += histogram_text("pagoda_translate_seconds",
                         "Seconds from a request for a translation to its answer.", seconds_);
  return text;
}

}  // namespace pagoda::app
