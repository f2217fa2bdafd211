#include "sim/sim_copy.h"

#include <pagoda/base/error.h>

#include <cstring>
#include <memory>
#include <thread>
#include <utility>

#include <ATen/core/LegacyTypeDispatch.h>

#include "sim/host_view.h"
#include "sim/pinned_memory.h"
#include "sim/sim_card.h"
#include "sim/sim_memory.h"

namespace pagoda {
namespace {

bool on_card(const at::Tensor& tensor) { return tensor.is_privateuseone(); }

/// A tensor for the host, and what keeps its memory.
struct HostSide {
  explicit HostSide(const at::Tensor& tensor)
      : view(on_card(tensor) ? host_view(tensor) : tensor),
        memory(on_card(tensor) ? memory_of(tensor.storage()) : nullptr) {}

  at::Tensor view;
  std::shared_ptr<const void> memory;
};

void copy_now(const HostSide& from, const HostSide& to) {
  const at::AutoDispatchBelowADInplaceOrView without_autograd;
  to.view.copy_(from.view);
}

bool same_bytes(const at::Tensor& a, const at::Tensor& b) {
  const at::Tensor left = a.contiguous();
  const at::Tensor right = b.contiguous();
  return std::memcmp(left.const_data_ptr(), right.const_data_ptr(), left.nbytes()) == 0;
}

/// The host's side as it was when the copy began: whoever overwrites it since would send either.
class Unchanged {
 public:
  Unchanged(const HostSide& host, std::string what) : host_(host), what_(std::move(what)) {
    const at::AutoDispatchBelowADInplaceOrView without_autograd;
    before_ = host_.view.clone();
  }

  void check() const {
    const at::AutoDispatchBelowADInplaceOrView without_autograd;
    if (same_bytes(host_.view, before_)) return;
    throw UsageError("pinned memory was overwritten before a copy " + what_ +
                     " was done; wait for the stream or an event first");
  }

 private:
  const HostSide host_;
  const std::string what_;
  at::Tensor before_;
};

void begin_late_copy(SimOperation& operation, const at::Tensor& from, const at::Tensor& to,
                     SimTime arrival) {
  const HostSide source(from);
  const HostSide target(to);
  if (!sim_cards_are_strict()) {  // the numbers at once, the time when it is due
    copy_now(source, target);
    operation.begin_late(arrival, [] {});
    return;
  }
  const bool up = on_card(to);
  const Unchanged host(up ? source : target,
                       (up ? "to " + to.device().str() : "from " + from.device().str()));
  operation.begin_late(arrival, [source, target, host] {
    host.check();
    copy_now(source, target);
  });
}

/// As CUDA does it: on the source's stream, before and after which the target's stream waits.
void copy_between_cards(const at::Tensor& from, const at::Tensor& to) {
  const SimStream target = current_sim_stream(to.get_device());
  const SimStream source = current_sim_stream(from.get_device());
  block_sim_stream(source, record_sim_event(target));
  SimOperation operation("a copy to " + to.device().str(), from.get_device());
  operation.reads(from);
  operation.writes(to);
  operation.begin();
  const SimTime out = sim_card(from.get_device()).send(SimCard::Way::out_of_card, from.nbytes());
  const SimTime in = sim_card(to.get_device()).send(SimCard::Way::into_card, from.nbytes());
  std::this_thread::sleep_until(std::max(out, in));
  copy_now(HostSide(from), HostSide(to));
  block_sim_stream(target, record_sim_event(source));
}

void copy_with_host(const at::Tensor& from, const at::Tensor& to, bool non_blocking) {
  const at::Tensor& card = on_card(to) ? to : from;
  const at::Tensor& host = on_card(to) ? from : to;
  const auto way = on_card(to) ? SimCard::Way::into_card : SimCard::Way::out_of_card;
  SimOperation operation("a copy", card.get_device());
  on_card(to) ? operation.writes(to) : operation.reads(from);
  const SimTime arrival = sim_card(card.get_device()).send(way, from.nbytes());
  if (non_blocking && from.nbytes() > 0 && is_pinned(host.const_data_ptr()))
    return begin_late_copy(operation, from, to, arrival);
  operation.begin();
  std::this_thread::sleep_until(arrival);
  copy_now(HostSide(from), HostSide(to));
  operation.finish();
}

}  // namespace

void copy_on_cards(const at::Tensor& from, const at::Tensor& to, bool non_blocking) {
  for (const at::Tensor* end : {&from, &to}) {
    if (on_card(*end)) sim_card(end->get_device()).begin_operation();
  }
  if (!on_card(from) || !on_card(to)) return copy_with_host(from, to, non_blocking);
  if (from.device() != to.device()) return copy_between_cards(from, to);
  SimOperation operation("a copy", to.get_device());
  operation.reads(from);
  operation.writes(to);
  operation.begin();
  copy_now(HostSide(from), HostSide(to));
}

}  // namespace pagoda
