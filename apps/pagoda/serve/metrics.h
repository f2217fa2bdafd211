#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace pagoda::app {

/// How often something was at most so large, for bounds that grow.
struct CountHistogram {
  std::vector<double> bounds;
  std::vector<std::uint64_t> counts =
      std::vector<std::uint64_t>(bounds.size() + 1);  ///< the last: larger
  double sum = 0;

  void add(double value);
};

/// What a server has done so far.
///
/// Threads: any. Fails: never.
class ServeMetrics {
 public:
  /// One answer of any kind.
  void count_request(int status);
  /// One that was translated, from its arrival to its answer.
  void count_latency(double seconds);
  /// Sentences that were decoded together, and the tokens of their best translations.
  void count_batch(std::size_t sentences, std::size_t tokens);

  std::uint64_t requests() const;

  /// All of it in Prometheus' text format, with the number of sentences that wait now.
  std::string text(std::size_t waiting) const;

 private:
  mutable std::mutex mutex_;               // guards all of the following
  std::map<int, std::uint64_t> requests_;  // by status
  std::uint64_t sentences_ = 0;
  std::uint64_t tokens_ = 0;
  CountHistogram batches_{.bounds = {1, 2, 4, 8, 16, 32, 64, 128, 256}};
  CountHistogram seconds_{.bounds = {0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}};
};

}  // namespace pagoda::app
