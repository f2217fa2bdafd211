#pragma once

#include <pagoda/base/error.h>
#include <pagoda/base/start_thread.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <future>
#include <iterator>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace pagoda::app {

struct BatchQueueOptions {
  /// How long the first of a batch waits for others to join it. While a batch is worked on, those
  /// that come gather anyway.
  std::chrono::milliseconds max_wait{5};
  std::size_t max_lines = 1024;  ///< that may wait, those that are worked on not counted
  std::size_t max_batch = 256;   ///< lines that are worked on together; a longer request is alone
};

/// There is no more room for lines that wait.
class QueueFullError : public Error {
 public:
  using Error::Error;
};

/// The queue takes nothing more because it is being stopped.
class QueueStoppedError : public Error {
 public:
  using Error::Error;
};

/// Brings lines of many callers together: one thread works on all that wait with the same options at
/// once, those that came first first. What fails together is tried again one caller at a time, so
/// that nobody fails because of somebody else's lines.
///
/// Threads: any may call; the work is done in a thread of the queue's own, never twice at a time.
/// Owns: that thread, which ends with the queue, and what waits.
/// Example:
///     BatchQueue<Choice, Answer> queue(work, {.max_lines = 100});
///     std::vector<Answer> answers = queue.run({"one", "two"}, choice);  // waits
template <class Options, class Result>
class BatchQueue {
 public:
  /// A result for each line.
  using Work =
      std::function<std::vector<Result>(const std::vector<std::string>& lines, const Options&)>;

  explicit BatchQueue(Work work, const BatchQueueOptions& options = {})
      : work_(std::move(work)), options_(options) {
    thread_ = start_thread("the queue of requests", [this] { run_batches(); });
  }
  ~BatchQueue() { stop(); }
  BatchQueue(const BatchQueue&) = delete;
  BatchQueue& operator=(const BatchQueue&) = delete;

  /// The results of these lines; waits for them.
  /// Fails: QueueFullError, QueueStoppedError, or what the work throws.
  std::vector<Result> run(std::vector<std::string> lines, const Options& options) {
    std::future<std::vector<Result>> results;
    {
      const std::lock_guard lock(mutex_);
      if (stopped_) throw QueueStoppedError("no more requests are taken");
      if (lines_ + lines.size() > options_.max_lines) {
        throw QueueFullError(std::to_string(lines_) + " sentences wait already, of at most " +
                             std::to_string(options_.max_lines));
      }
      requests_.push_back({std::move(lines), options, Clock::now(), {}});
      lines_ += requests_.back().lines.size();
      results = requests_.back().results.get_future();
    }
    changed_.notify_all();
    return results.get();
  }

  /// Lines that wait.
  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return lines_;
  }

  /// Takes nothing more, and waits until what was taken is done.
  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    changed_.notify_all();
    const std::lock_guard lock(joining_);
    if (thread_.joinable()) thread_.join();
  }

 private:
  using Clock = std::chrono::steady_clock;

  struct Request {
    std::vector<std::string> lines;
    Options options;
    Clock::time_point arrival;
    std::promise<std::vector<Result>> results;
  };

  /// Nothing outside of `work_` may need memory: nobody would hear of it that there was none.
  void run_batches() {
    for (auto batch = next_batch(); !batch.empty(); batch = next_batch()) {
      if (batch.size() > 1 && answer_together(batch)) continue;
      for (Request& request : batch) answer(request);
    }
  }

  /// The oldest request with all that can join it; none when the queue is stopped and empty.
  std::list<Request> next_batch() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stopped_ || !requests_.empty(); });
    if (requests_.empty()) return {};
    const auto latest = requests_.front().arrival + options_.max_wait;
    changed_.wait_until(lock, latest,
                        [&] { return stopped_ || joinable_lines() >= options_.max_batch; });

    std::list<Request> batch;
    batch.splice(batch.end(), requests_, requests_.begin());
    std::size_t lines = batch.front().lines.size();
    for (auto next = requests_.begin(); next != requests_.end();) {
      const auto request = next++;
      const bool fits = lines + request->lines.size() <= options_.max_batch;
      if (!fits || !(request->options == batch.front().options)) continue;
      lines += request->lines.size();
      batch.splice(batch.end(), requests_, request);
    }
    lines_ -= lines;
    return batch;
  }

  /// Lines that wait with the oldest request's options.
  std::size_t joinable_lines() const {
    std::size_t lines = 0;
    for (const Request& request : requests_) {
      if (request.options == requests_.front().options) lines += request.lines.size();
    }
    return lines;
  }

  /// False: it failed, and nobody has an answer.
  bool answer_together(std::list<Request>& batch) {
    std::vector<std::vector<Result>> answers;
    try {
      answers = together(batch);
    } catch (...) {
      return false;
    }
    auto answer = answers.begin();
    for (Request& request : batch) request.results.set_value(std::move(*answer++));
    return true;
  }

  /// The results of each request.
  std::vector<std::vector<Result>> together(const std::list<Request>& batch) {
    std::vector<std::string> lines;
    for (const Request& request : batch)
      lines.insert(lines.end(), request.lines.begin(), request.lines.end());
    std::vector<Result> results = work_(lines, batch.front().options);
    std::vector<std::vector<Result>> answers;
    auto next = std::make_move_iterator(results.begin());
    for (const Request& request : batch) {
      const auto end = next + static_cast<std::ptrdiff_t>(request.lines.size());
      answers.emplace_back(next, end);
      next = end;
    }
    return answers;
  }

  void answer(Request& request) {
    try {
      request.results.set_value(work_(request.lines, request.options));
    } catch (...) {
      request.results.set_exception(std::current_exception());
    }
  }

  const Work work_;
  const BatchQueueOptions options_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;  // of what mutex_ guards
  std::list<Request> requests_;      // guarded by mutex_, as the next two
  std::size_t lines_ = 0;            // of the requests
  bool stopped_ = false;
  std::mutex joining_;
  std::thread thread_;  // guarded by joining_; last, as it uses all of the above
};

}  // namespace pagoda::app
