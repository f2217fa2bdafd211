// Built only with a CUDA build of LibTorch and NCCL's header; nccl_missing.cpp takes its place
// otherwise.
#include <pagoda/base/error.h>
#include <pagoda/tower/tower_error.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <nccl.h>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <c10/cuda/CUDAEvent.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include "reduce/card_link.h"

namespace pagoda {
namespace {

void check(ncclResult_t result, const char* what) {
  if (result != ncclSuccess && result != ncclInProgress)
    throw DeviceError(std::string("NCCL could not ") + what + ": " + ncclGetErrorString(result));
}

ncclDataType_t type_of(const at::Tensor& values) {
  switch (values.scalar_type()) {
    case at::kDouble:
      return ncclDouble;
    case at::kHalf:
      return ncclHalf;
    case at::kBFloat16:
      return ncclBfloat16;
    default:
      return ncclFloat;  // check_card_values has refused the rest
  }
}

/// One tower's end of the link. NCCL allows one thread at a time in a communicator, also the one
/// that aborts it: hence the mutex. The communicator is non-blocking, so that no call waits for other
/// towers while it holds it.
class Communicator {
 public:
  /// Inside an NCCL group of all ends; `settle` follows.
  ncclResult_t begin_connect(int towers, const ncclUniqueId& id, int tower) {
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    return ncclCommInitRankConfig(&comm_, towers, id, tower, &config);
  }

  /// Calls `begin(comm)` and waits until NCCL has taken the work in, not until it is done.
  template <class Begin>
  void call(const char* what, Begin begin) {
    start(what, begin);
    settle(what);
  }

  template <class Begin>
  void start(const char* what, Begin begin) {
    const std::lock_guard lock(mutex_);
    if (comm_ == nullptr) throw TowerInterrupted();
    check(begin(comm_), what);
  }

  /// Fails: DeviceError with what NCCL says of earlier calls, TowerInterrupted after `abort`.
  void settle(const char* what) {
    while (true) {
      {
        const std::lock_guard lock(mutex_);
        if (comm_ == nullptr) throw TowerInterrupted();
        ncclResult_t state = ncclSuccess;
        check(ncclCommGetAsyncError(comm_, &state), what);
        check(state, what);
        if (state == ncclSuccess) return;
      }
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }

  void abort() noexcept {
    const std::lock_guard lock(mutex_);
    if (comm_ != nullptr) ncclCommAbort(std::exchange(comm_, nullptr));
  }

  /// After ncclCommFinalize on all ends.
  void destroy() noexcept {
    const std::lock_guard lock(mutex_);
    if (comm_ != nullptr) ncclCommDestroy(std::exchange(comm_, nullptr));
  }

  static constexpr const char* kConnect = "connect the cards";

 private:
  std::mutex mutex_;
  ncclComm_t comm_ = nullptr;  // guarded by mutex_; null before it is connected and once aborted
};

class NcclLink final : public CardLink {
 public:
  NcclLink(const Replicas& replicas, LinkPlace place, std::optional<LinkPeers> peers)
      : place_(place), peers_(std::move(peers)) {
    for (int tower = 0; tower < replicas.size(); ++tower) {
      const auto index = replicas.device(tower).torch_device().index();
      devices_.push_back(index);
      streams_.push_back(c10::cuda::getStreamFromPool(/*isHighPriority=*/true, index));
      ends_.push_back(std::make_unique<Communicator>());
    }
    try {
      connect();
    } catch (...) {
      abort();
      throw;
    }
  }

  ~NcclLink() override {
    try {
      constexpr const char* kEnd = "disconnect the cards";
      for (auto& end : ends_) end->start(kEnd, &ncclCommFinalize);
      for (auto& end : ends_) end->settle(kEnd);
      for (auto& end : ends_) end->destroy();
    } catch (const std::exception&) {  // aborted, or a card is lost
      abort();
    }
  }

  void start_sum(int tower, const at::Tensor& values) override {
    check_card_values(values);
    const c10::cuda::CUDAGuard guard(values.device());
    const auto& stream = begin(tower, values);
    end_of(tower).call("sum gradients", [&](ncclComm_t comm) {
      return ncclAllReduce(values.const_data_ptr(), values.data_ptr(),
                           static_cast<std::size_t>(values.numel()), type_of(values), ncclSum, comm,
                           stream);
    });
  }

  void start_broadcast(int tower, int from, const at::Tensor& values) override {
    check_card_values(values);
    const c10::cuda::CUDAGuard guard(values.device());
    const auto& stream = begin(tower, values);
    end_of(tower).call("exchange parameters", [&](ncclComm_t comm) {
      return ncclBroadcast(values.const_data_ptr(), values.data_ptr(),
                           static_cast<std::size_t>(values.numel()), type_of(values), from, comm,
                           stream);
    });
  }

  void wait(int tower) override {
    end_of(tower).settle("sum gradients");
    const auto index = static_cast<std::size_t>(tower);
    const c10::cuda::CUDAGuard guard(devices_[index]);
    c10::cuda::CUDAEvent done;
    done.record(streams_[index]);
    if (peers_) wait_for_peers(done);
    done.block(c10::cuda::getCurrentCUDAStream(devices_[index]));
  }

  void abort() override {
    aborted_ = true;
    for (auto& end : ends_) end->abort();
  }

  void reset() override {
    if (!aborted_ || peers_) return;
    abort();  // what an earlier reset may have left half connected
    connect();
    aborted_ = false;
  }

 private:
  Communicator& end_of(int tower) { return *ends_[static_cast<std::size_t>(tower)]; }

  /// What the card has computed so far comes before what follows on the link's stream.
  const c10::cuda::CUDAStream& begin(int tower, const at::Tensor& values) {
    const auto index = static_cast<std::size_t>(tower);
    c10::cuda::CUDAEvent ready;
    ready.record(c10::cuda::getCurrentCUDAStream(devices_[index]));
    ready.block(streams_[index]);
    values.record_stream(streams_[index]);
    return streams_[index];
  }

  /// A process that has failed leaves the others' sums without an end.
  void wait_for_peers(const c10::cuda::CUDAEvent& done) {
    constexpr auto kPeriod = std::chrono::milliseconds(200);
    auto next = std::chrono::steady_clock::now() + kPeriod;
    while (!done.query()) {
      std::this_thread::yield();
      if (std::chrono::steady_clock::now() < next) continue;
      if (aborted_ || peers_->has_failed()) {
        abort();
        throw TowerInterrupted();
      }
      next += kPeriod;
    }
  }

  /// The id by which the cards of all processes find each other: the first process's.
  ncclUniqueId shared_id() const {
    ncclUniqueId id{};
    if (!peers_ || peers_->rank == 0) check(ncclGetUniqueId(&id), Communicator::kConnect);
    if (!peers_) return id;
    const std::string first = peers_->gather(std::string(id.internal, sizeof id.internal)).front();
    std::copy(first.begin(), first.end(), id.internal);
    return id;
  }

  void connect() {
    const ncclUniqueId id = shared_id();
    check(ncclGroupStart(), Communicator::kConnect);
    ncclResult_t begun = ncclSuccess;
    for (std::size_t i = 0; i < ends_.size() && begun == ncclSuccess; ++i) {
      const c10::cuda::CUDAGuard guard(devices_[i]);
      begun = ends_[i]->begin_connect(place_.total, id, place_.first + static_cast<int>(i));
      if (begun == ncclInProgress) begun = ncclSuccess;
    }
    const ncclResult_t ended = ncclGroupEnd();  // also where one could not begin
    check(begun, Communicator::kConnect);
    check(ended, Communicator::kConnect);
    for (auto& end : ends_) end->settle(Communicator::kConnect);
  }

  const LinkPlace place_;
  const std::optional<LinkPeers> peers_;
  std::vector<c10::DeviceIndex> devices_;
  std::vector<c10::cuda::CUDAStream> streams_;
  std::vector<std::unique_ptr<Communicator>> ends_;  // by tower
  std::atomic<bool> aborted_ = false;
};

}  // namespace

std::unique_ptr<CardLink> make_nccl_link(const Replicas& replicas, LinkPlace place,
                                         const std::optional<LinkPeers>& peers) {
  return std::make_unique<NcclLink>(replicas, place, peers);
}

bool has_nccl() { return true; }

}  // namespace pagoda
