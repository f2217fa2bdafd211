#include "serve/service.h"

#include <pagoda/base/error_text.h>
#include <pagoda/base/json.h>
#include <pagoda/base/stopwatch.h>

#include <cstdio>
#include <exception>
#include <utility>

#include "serve/answer.h"

namespace pagoda::app {

TranslationService::TranslationService(Queue::Work work, const ServiceOptions& options)
    : work_(std::move(work)),
      options_(options),
      queue_(
          [this](const auto& lines, const auto& decoding) { return translated(lines, decoding); },
          options.queue) {}

Reply TranslationService::translate(std::string_view body) {
  const Stopwatch watch;
  TranslateRequest request;
  try {
    request = parse_translate_request(body, options_.limits);
  } catch (const DataError& error) {
    return {.status = 400, .body = error_json(error.what())};
  }
  try {
    const auto found = queue_.run(request.lines, request.decoding);
    Reply reply{.body = answer_json(request, found)};
    metrics_.count_latency(watch.seconds());
    return reply;
  } catch (const QueueFullError& error) {
    return {.status = 503,
            .body = error_json(std::string("the queue is full: ") + error.what() +
                               " (--max-queue); try again in a moment"),
            .retry = true};
  } catch (const QueueStoppedError&) {
    return {.status = 503,
            .body = error_json("the server is being stopped; try again in a moment"),
            .retry = true};
  } catch (...) {
    const std::string what = error_text(std::current_exception());
    std::fprintf(stderr, "pagoda: a request failed: %s\n", what.c_str());
    return {.status = 500, .body = error_json("the translation failed; the server's log says why")};
  }
}

std::vector<std::vector<Translation>> TranslationService::translated(
    const std::vector<std::string>& lines, const DecodingChoice& decoding) {
  std::vector<std::vector<Translation>> found;
  try {
    found = work_(lines, decoding);
  } catch (...) {
    failing_ = true;
    throw;
  }
  failing_ = false;
  std::size_t tokens = 0;
  for (const auto& translations : found) tokens += translations.front().tokens.size();
  metrics_.count_batch(lines.size(), tokens);
  return found;
}

Reply TranslationService::health() const {
  const bool failing = failing_;
  JsonWriter json;
  json.begin_object().key("status").value(failing ? "failing" : "ok");
  json.key("model").value(options_.model).end_object();
  return {.status = failing ? 503 : 200, .body = json.text() + "\n"};
}

Reply TranslationService::metrics() const {
  return {.body = metrics_.text(queue_.size()), .type = "text/plain; version=0.0.4; charset=utf-8"};
}

}  // namespace pagoda::app
