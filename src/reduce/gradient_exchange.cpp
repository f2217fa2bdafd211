#include "reduce/gradient_exchange.h"

#include <utility>

#include "reduce/card_exchange.h"
#include "reduce/host_exchange.h"

namespace pagoda {

std::unique_ptr<GradientExchange> make_gradient_exchange(
    const std::shared_ptr<const Replicas>& replicas, std::optional<double> max_tower_norm,
    std::optional<at::ScalarType> narrow, const std::optional<LinkPeers>& peers) {
  auto link = make_card_link(*replicas, peers);
  if (link)
    return std::make_unique<CardExchange>(replicas, std::move(link), max_tower_norm, narrow);
  return std::make_unique<HostExchange>(replicas, max_tower_norm);
}

}  // namespace pagoda
