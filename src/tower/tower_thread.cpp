#include "tower/tower_thread.h"

#include <pagoda/base/start_thread.h>
#include <pagoda/memory/cpu_memory.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <pthread.h>
#include <string>
#include <utility>

#include <c10/core/DeviceGuard.h>

#include "base/compute_threads.h"
#include "device/device_cores.h"
#include "tower/tower_context.h"

namespace pagoda {
namespace {

/// How long destruction waits for a late job before it leaves it to itself.
constexpr std::chrono::seconds kGrace{2};

}  // namespace

/// Guarded by `mutex` (`busy` may be read without), and kept alive by both threads.
struct TowerThread::Shared {
  std::mutex mutex;
  std::condition_variable changed;
  Job job;
  std::optional<std::uint64_t> seed;
  std::atomic<bool> busy =
      true;  // from construction until the set-up is done, then while a job runs
  bool stop = false;
  std::exception_ptr error;

  void finish(std::exception_ptr thrown) {
    {
      std::lock_guard lock(mutex);
      busy = false;
      error = std::move(thrown);
    }
    changed.notify_all();
  }
};

namespace {

/// What traces and debuggers show.
std::string thread_name(int tower, int stage) {
  return "tower " + std::to_string(tower) + (stage > 0 ? "." + std::to_string(stage) : "");
}

/// One phase of a step often follows another within microseconds, and waking up takes longer than
/// that: looks out for the next one for a moment before the thread goes to sleep.
void await_briefly(const std::atomic<bool>& busy) {
  constexpr auto kMoment = std::chrono::microseconds(200);
  const auto end = std::chrono::steady_clock::now() + kMoment;
  while (!busy.load(std::memory_order_acquire) && std::chrono::steady_clock::now() < end)
    std::this_thread::yield();
}

}  // namespace

TowerThread::TowerThread(int tower, const Device& device, int stage)
    : shared_(std::make_shared<Shared>()),
      memory_(device.kind == DeviceKind::cpu
                  ? std::make_shared<MemoryAccount>(device.label(), device.memory_limit)
                  : nullptr),
      thread_(start_thread(thread_name(tower, stage),
                           [shared = shared_, name = thread_name(tower, stage), device,
                            memory = memory_] { serve(shared, name, device, memory); })) {
  if (const auto error = wait()) {
    thread_.join();
    std::rethrow_exception(error);
  }
}

TowerThread::~TowerThread() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard lock(shared_->mutex);
    shared_->stop = true;
  }
  shared_->changed.notify_all();
  if (settle()) {
    thread_.join();
  } else {
    thread_.detach();
  }
}

bool TowerThread::settle() {
  std::unique_lock lock(shared_->mutex);
  return shared_->changed.wait_for(lock, kGrace, [this] { return !shared_->busy; });
}

void TowerThread::start(Job job, std::optional<std::uint64_t> seed) {
  {
    std::lock_guard lock(shared_->mutex);
    shared_->job = std::move(job);
    shared_->seed = seed;
    shared_->busy = true;
  }
  shared_->changed.notify_all();
}

TowerThread::Outcome TowerThread::wait(Patience& patience, std::exception_ptr& error) {
  std::unique_lock lock(shared_->mutex);
  if (!patience.wait(shared_->changed, lock, [this] { return !shared_->busy; }))
    return Outcome::late;
  error = std::exchange(shared_->error, nullptr);
  return Outcome::finished;
}

std::exception_ptr TowerThread::wait() {
  const auto shared = shared_;  // a stage that is late for good outlives this object
  std::unique_lock lock(shared->mutex);
  shared->changed.wait(lock, [&] { return !shared->busy; });
  return std::exchange(shared->error, nullptr);
}

void TowerThread::serve(const std::shared_ptr<Shared>& shared, const std::string& name,
                        const Device& device, const std::shared_ptr<MemoryAccount>& memory) {
  std::optional<TowerContext> context;
  std::optional<c10::OptionalDeviceGuard> on_device;
  std::optional<ChargeCpuMemory> charge;
  try {
    pthread_setname_np(pthread_self(), name.c_str());
    if (device.kind == DeviceKind::cpu) {
      take_cores(device);
    } else {
      on_device.emplace(device.torch_device());
      if (device.kind == DeviceKind::sim) set_compute_threads(1);  // a card is one core of the host
    }
    context.emplace(device.torch_device());
    if (memory) charge.emplace(memory);
  } catch (...) {
    return shared->finish(std::current_exception());
  }
  shared->finish(nullptr);

  while (true) {
    await_briefly(shared->busy);
    Job job;
    std::optional<std::uint64_t> seed;
    {
      std::unique_lock lock(shared->mutex);
      shared->changed.wait(lock, [&] { return shared->stop || shared->busy; });
      if (!shared->busy) return;
      job = std::move(shared->job);
      seed = shared->seed;
    }
    std::exception_ptr thrown;
    try {
      if (seed) context->reseed(*seed);
      job();
    } catch (...) {
      thrown = std::current_exception();
    }
    job = nullptr;  // what it captured ends before the coordinator goes on
    shared->finish(std::move(thrown));
  }
}

}  // namespace pagoda
