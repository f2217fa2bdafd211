// Built only with a CUDA build of LibTorch and NCCL's header; nccl_missing.cpp takes its place
// otherwise.
#include <pagoda/base/error.h>
#include <pagoda/tower/tower_error.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <nccl.h>
#include <string>
#include <thread>
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

class NcclLink final : public CardLink {
 public:
  NcclLink(const Replicas& replicas, LinkPlace place, std::optional<LinkPeers> peers)
      : place_(place), peers_(std::move(peers)) {
    for (int tower = 0; tower < replicas.size(); ++tower) {
      const auto index = replicas.device(tower).torch_device().index();
      devices_.push_back(index);
      streams_.push_back(c10::cuda::getStreamFromPool(/*isHighPriority=*/true, index));
    }
    connect();
  }
  ~NcclLink() override {
    if (aborted_) return;
    for (ncclComm_t comm : comms_) ncclCommDestroy(comm);
  }

  void start_sum(int tower, const at::Tensor& values) override {
    const c10::cuda::CUDAGuard guard(values.device());
    const auto& stream = begin(tower, values);
    check(ncclAllReduce(values.const_data_ptr(), values.data_ptr(),
                        static_cast<std::size_t>(values.numel()), type_of(values), ncclSum,
                        comms_[static_cast<std::size_t>(tower)], stream),
          "sum gradients");
  }

  void start_broadcast(int tower, int from, const at::Tensor& values) override {
    const c10::cuda::CUDAGuard guard(values.device());
    const auto& stream = begin(tower, values);
    check(ncclBroadcast(values.const_data_ptr(), values.data_ptr(),
                        static_cast<std::size_t>(values.numel()), type_of(values), from,
                        comms_[static_cast<std::size_t>(tower)], stream),
          "exchange parameters");
  }

  void wait(int tower) override {
    if (aborted_) throw TowerInterrupted();
    const auto index = static_cast<std::size_t>(tower);
    const c10::cuda::CUDAGuard guard(devices_[index]);
    c10::cuda::CUDAEvent done;
    done.record(streams_[index]);
    if (peers_) wait_for_peers(done);
    done.block(c10::cuda::getCurrentCUDAStream(devices_[index]));
    ncclResult_t state = ncclSuccess;
    check(ncclCommGetAsyncError(comms_[index], &state), "tell its state");
    check(state, "sum gradients");
  }

  /// NCCL allows it while operations are under way on other threads, which then end.
  void abort() override {
    if (aborted_.exchange(true)) return;
    for (ncclComm_t comm : comms_) ncclCommAbort(comm);
  }

  void reset() override {
    if (!aborted_ || peers_) return;
    connect();
    aborted_ = false;
  }

 private:
  /// What the card has computed so far comes before what follows on the link's stream.
  const c10::cuda::CUDAStream& begin(int tower, const at::Tensor& values) {
    if (aborted_) throw TowerInterrupted();
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

  static ncclDataType_t type_of(const at::Tensor& values) {
    if (values.scalar_type() == at::kBFloat16) return ncclBfloat16;
    return values.scalar_type() == at::kDouble ? ncclDouble : ncclFloat;
  }

  void connect() {
    const std::vector<int> devices(devices_.begin(), devices_.end());
    comms_.resize(devices.size());
    if (peers_) return connect_with_peers();
    check(ncclCommInitAll(comms_.data(), static_cast<int>(devices.size()), devices.data()),
          "connect the cards");
  }

  /// Rank 0 makes the id by which the cards of all processes find each other.
  void connect_with_peers() {
    ncclUniqueId id{};
    if (peers_->rank == 0) check(ncclGetUniqueId(&id), "name the link");
    const std::string first = peers_->gather(std::string(id.internal, sizeof id.internal)).front();
    std::copy(first.begin(), first.end(), id.internal);
    check(ncclGroupStart(), "connect the cards");
    for (std::size_t tower = 0; tower < devices_.size(); ++tower) {
      const c10::cuda::CUDAGuard guard(devices_[tower]);
      check(ncclCommInitRank(&comms_[tower], place_.total, id,
                             place_.first + static_cast<int>(tower)),
            "connect the cards of all processes");
    }
    check(ncclGroupEnd(), "connect the cards of all processes");
  }

  const LinkPlace place_;
  const std::optional<LinkPeers> peers_;
  std::vector<c10::DeviceIndex> devices_;
  std::vector<c10::cuda::CUDAStream> streams_;
  std::vector<ncclComm_t> comms_;
  std::atomic<bool> aborted_ = false;
};

}  // namespace

std::unique_ptr<CardLink> make_nccl_link(const Replicas& replicas, LinkPlace place,
                                         const std::optional<LinkPeers>& peers) {
  return std::make_unique<NcclLink>(replicas, place, peers);
}

bool has_nccl() { return true; }

}  // namespace pagoda
