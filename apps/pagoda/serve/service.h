#pragma once

#include <atomic>
#include <string>
#include <string_view>
#include <vector>

#include "seq2seq/translator.h"
#include "serve/batch_queue.h"
#include "serve/metrics.h"
#include "serve/translate_request.h"

namespace pagoda::app {

/// What is sent back to a client.
struct Reply {
  int status = 200;
  std::string body = {};
  std::string type = "application/json";
  bool retry = false;  ///< the same request may be answered in a moment
};

struct ServiceOptions {
  RequestLimits limits = {};
  BatchQueueOptions queue = {};
  std::string model = {};  ///< what /health says of the model
};

/// What a server answers, without the network: reads requests, brings their sentences together,
/// counts.
///
/// Threads: any. Owns: the queue with its thread, in which `work` runs.
/// Fails: never by exception; what goes wrong is a reply with a status and {"error": "…"}.
class TranslationService {
 public:
  using Queue = BatchQueue<DecodingChoice, std::vector<Translation>>;

  explicit TranslationService(Queue::Work work, const ServiceOptions& options = {});

  /// The body of POST /translate; waits for its translations. 200, 400 for what it cannot be, 503
  /// when too many wait or the service is being stopped, 500 when the work fails.
  Reply translate(std::string_view body);

  /// 200, or 503 when what was tried last has failed.
  Reply health() const;
  Reply metrics() const;

  /// An answer that has been sent, whatever it was.
  void count_request(int status) { metrics_.count_request(status); }
  std::uint64_t requests() const { return metrics_.requests(); }

  /// Answers what it has taken, and nothing more.
  void stop() { queue_.stop(); }

 private:
  std::vector<std::vector<Translation>> translated(const std::vector<std::string>& lines,
                                                   const DecodingChoice& decoding);

  const Queue::Work work_;
  const ServiceOptions options_;
  ServeMetrics metrics_;
  std::atomic<bool> failing_ = false;
  Queue queue_;  // last, as its thread uses all of the above
};

}  // namespace pagoda::app
