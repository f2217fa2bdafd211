#include <pagoda/base/error.h>
#include <pagoda/checkpoint/checkpoint_store.h>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <exception>
#include <mutex>
#include <thread>

namespace pagoda {
namespace {

constexpr const char* kPrefix = "step-";
constexpr const char* kSuffix = ".pt";

/// Zero-padded, so that the alphabet's order is the steps'.
std::string file_name(std::int64_t step) {
  char name[32];
  std::snprintf(name, sizeof name, "%s%010lld%s", kPrefix, static_cast<long long>(step), kSuffix);
  return name;
}

bool is_checkpoint_name(const std::string& name) {
  return name.rfind(kPrefix, 0) == 0 && name.ends_with(kSuffix);
}

}  // namespace

/// One job at a time on a thread of its own.
class CheckpointStore::Writer {
 public:
  Writer() : thread_([this] { serve(); }) {}

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
  std::error_code error;
  std::filesystem::create_directories(directory_, error);
  if (error)
    throw IoError("cannot create directory " + directory_.string() + ": " + error.message());
}

CheckpointStore::~CheckpointStore() = default;

void CheckpointStore::save(Checkpoint checkpoint, bool is_best) {
  const auto shared = std::make_shared<const Checkpoint>(std::move(checkpoint));
  writer_->start([this, shared, is_best] { write(*shared, is_best); });
}

void CheckpointStore::wait() { writer_->wait(); }

void CheckpointStore::write(const Checkpoint& checkpoint, bool is_best) const {
  write_checkpoint(checkpoint, directory_ / file_name(checkpoint.step));
  if (is_best) write_checkpoint(checkpoint, best_file());
  const auto newest = files();
  for (std::size_t i = static_cast<std::size_t>(options_.keep_last); i < newest.size(); ++i) {
    std::error_code ignored;  // one file too many does no harm
    std::filesystem::remove(newest[i], ignored);
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

std::optional<Checkpoint> CheckpointStore::load_newest(
    const std::function<void(const std::string&)>& report) const {
  for (const auto& file : files()) {
    try {
      return read_checkpoint(file);
    } catch (const DataError& error) {
      report(std::string(error.what()) + "; going back to the checkpoint before it");
    }
  }
  return std::nullopt;
}

}  // namespace pagoda
