#include <pagoda/base/atomic_file.h>
#include <pagoda/base/error.h>
#include <pagoda/base/start_thread.h>
#include <pagoda/checkpoint/checkpoint_store.h>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <string_view>
#include <thread>

#include "base/descriptor.h"

namespace pagoda {
namespace {

constexpr std::string_view kPrefix = "step-";
constexpr std::string_view kSuffix = ".pt";
constexpr std::string_view kStoppedSuffix = ".stopped.pt";

/// Zero-padded, so that the alphabet's order is the steps'.
std::string file_name(std::int64_t step, Keep keep) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%010lld", static_cast<long long>(step));
  return std::string(kPrefix) + digits +
         std::string(keep == Keep::until_next ? kStoppedSuffix : kSuffix);
}

bool stays_until_next(const std::filesystem::path& file) {
  return file.filename().string().ends_with(kStoppedSuffix);
}

std::int64_t step_in_name(const std::filesystem::path& file) {
  return std::strtoll(file.filename().c_str() + kPrefix.size(), nullptr, 10);
}

std::string joined(const std::vector<std::string>& texts, const char* between) {
  std::string list;
  for (const auto& text : texts) list += (list.empty() ? "" : between) + text;
  return list;
}

bool is_best(const Checkpoint& checkpoint) {
  const RunState& state = checkpoint.state;
  return state.best && state.best_step == state.step;
}

/// Out of the way of the checkpoints to come, for somebody who wants to look at it.
void set_aside(const std::filesystem::path& file) {
  std::filesystem::path aside = file;
  aside += ".damaged";
  std::error_code error;
  std::filesystem::rename(file, aside, error);
  if (error) throw IoError("cannot rename " + file.string() + ": " + error.message());
}

/// The step of a checkpoint; nothing where there is none or it is damaged.
std::optional<std::int64_t> step_of(const std::filesystem::path& file) {
  if (!std::filesystem::exists(file)) return std::nullopt;
  try {
    return read_checkpoint(file).state.step;
  } catch (const NewerFormatError&) {
    throw;
  } catch (const DataError&) {
    return std::nullopt;
  }
}

bool is_checkpoint_name(const std::string& name) {
  return name.starts_with(kPrefix) && name.ends_with(kSuffix);
}

}  // namespace

/// One job at a time on a thread of its own.
class CheckpointStore::Writer {
 public:
  Writer() : thread_(start_thread("checkpoint writer", [this] { serve(); })) {}

  ~Writer() {
    {
      std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  /// Waits for the job before, throws what it threw, then begins this one.
  void start(std::function<void()> job) {
    wait();
    {
      std::lock_guard lock(mutex_);
      job_ = std::move(job);
    }
    changed_.notify_all();
  }

  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !job_; });
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }

 private:
  void serve() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return stop_ || job_; });
      if (!job_) return;
      lock.unlock();
      std::exception_ptr thrown;
      try {
        job_();  // nobody else touches it while it is set
      } catch (...) {
        thrown = std::current_exception();
      }
      lock.lock();
      job_ = nullptr;
      error_ = thrown;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> job_;  // guarded by mutex_, like the rest
  std::exception_ptr error_;
  bool stop_ = false;
  std::thread thread_;  // last: it uses the members above
};

CheckpointStore::CheckpointStore(std::filesystem::path directory,
                                 const CheckpointStoreOptions& options)
    : directory_(std::move(directory)), options_(options), writer_(std::make_unique<Writer>()) {
  if (options.keep_last < 1) {
    throw UsageError("the number of checkpoints to keep is " + std::to_string(options.keep_last) +
                     "; it must be at least 1");
  }
  make_directories(directory_);
}

CheckpointStore::~CheckpointStore() = default;

void CheckpointStore::save(Checkpoint checkpoint, Keep keep) {
  const auto shared = std::make_shared<const Checkpoint>(std::move(checkpoint));
  writer_->start([this, shared, keep] { write(*shared, keep); });
}

void CheckpointStore::wait() { writer_->wait(); }

void CheckpointStore::write(const Checkpoint& checkpoint, Keep keep) const {
  if (options_.before_write) options_.before_write();
  write_checkpoint(checkpoint, directory_ / file_name(checkpoint.state.step, keep));
  if (is_best(checkpoint)) write_checkpoint(checkpoint, best_file());
  remove_old(checkpoint.state.step);
}

/// Files of later steps are not this run's: they count neither as kept nor as old.
void CheckpointStore::remove_old(std::int64_t newest_step) const {
  int kept = 0;
  for (const auto& file : files()) {
    const std::int64_t step = step_in_name(file);
    if (step > newest_step) continue;
    const bool stays = stays_until_next(file) ? step == newest_step : ++kept <= options_.keep_last;
    if (stays) continue;
    std::error_code ignored;  // one file too many does no harm
    std::filesystem::remove(file, ignored);
  }
}

std::vector<std::filesystem::path> CheckpointStore::files() const {
  std::vector<std::filesystem::path> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory_, error)) {
    if (is_checkpoint_name(entry.path().filename().string())) found.push_back(entry.path());
  }
  if (error) throw IoError("cannot list " + directory_.string() + ": " + error.message());
  std::sort(found.rbegin(), found.rend());
  return found;
}

struct CheckpointStore::Found {
  std::optional<Checkpoint> checkpoint;
  std::vector<std::filesystem::path> damaged;  // newer than it
};

CheckpointStore::Found CheckpointStore::find_newest(const Report& report) const {
  auto candidates = files();
  if (std::filesystem::exists(best_file())) candidates.push_back(best_file());
  Found found;
  std::vector<std::string> failures;
  for (const auto& file : candidates) {
    try {
      found.checkpoint = read_checkpoint(file);
      for (const auto& failure : failures)
        report(failure + "; going back to " + file.filename().string());
      return found;
    } catch (const NewerFormatError&) {
      throw;
    } catch (const DataError& error) {
      failures.push_back(error.what());
      found.damaged.push_back(file);
    }
  }
  if (candidates.empty()) return found;
  throw DataError("none of the checkpoints in " + directory_.string() +
                  " can be read: " + joined(failures, "; ") +
                  ". Nothing was changed: put back a copy of one, train into another directory, or "
                  "overwrite the run");
}

std::optional<Checkpoint> CheckpointStore::load_newest(const Report& report) const {
  return find_newest(report).checkpoint;
}

std::optional<Checkpoint> CheckpointStore::load_best(const Report& report) const {
  auto newest = find_newest(report).checkpoint;
  if (!newest || is_best(*newest)) return newest;
  if (!newest->state.best || !std::filesystem::exists(best_file())) return std::nullopt;
  return read_checkpoint(best_file());
}

std::optional<Checkpoint> CheckpointStore::recover(const Report& report) {
  wait();
  remove_abandoned_files(directory_);
  const auto step_of_best = step_of(best_file());  // a newer version's must not be overwritten
  Found found = find_newest(report);
  for (const auto& file : found.damaged) set_aside(file);
  if (!found.checkpoint) return std::nullopt;
  if (is_best(*found.checkpoint) && step_of_best != found.checkpoint->state.step)
    write_checkpoint(*found.checkpoint, best_file());
  remove_old(found.checkpoint->state.step);
  return std::move(found.checkpoint);
}

}  // namespace pagoda
