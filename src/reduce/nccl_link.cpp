// Built only with a CUDA build of LibTorch and NCCL's header; nccl_missing.cpp takes its place
// otherwise.
#include <pagoda/base/error.h>
#include <pagoda/tower/tower_error.h>

#include <atomic>
#include <nccl.h>
#include <string>
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
  explicit NcclLink(const Replicas& replicas) {
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
    if (!aborted_) return;
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

  static ncclDataType_t type_of(const at::Tensor& values) {
    if (values.scalar_type() == at::kBFloat16) return ncclBfloat16;
    return values.scalar_type() == at::kDouble ? ncclDouble : ncclFloat;
  }

  void connect() {
    const std::vector<int> devices(devices_.begin(), devices_.end());
    comms_.resize(devices.size());
    check(ncclCommInitAll(comms_.data(), static_cast<int>(devices.size()), devices.data()),
          "connect the cards");
  }

  std::vector<c10::DeviceIndex> devices_;
  std::vector<c10::cuda::CUDAStream> streams_;
  std::vector<ncclComm_t> comms_;
  std::atomic<bool> aborted_ = false;
};

}  // namespace

std::unique_ptr<CardLink> make_nccl_link(const Replicas& replicas) {
  return std::make_unique<NcclLink>(replicas);
}

}  // namespace pagoda
