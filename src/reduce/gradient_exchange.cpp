#include "reduce/gradient_exchange.h"

#include <utility>

#include "reduce/card_exchange.h"
#include "reduce/host_exchange.h"
#include "tower/parameter_copies.h"

namespace pagoda {

std::unique_ptr<GradientExchange> make_gradient_exchange(
    const std::shared_ptr<const Replicas>& replicas, TowerClipping clipping) {
  auto link = replicas->copies().towers_update() ? make_card_link(*replicas) : nullptr;
  if (link) return std::make_unique<CardExchange>(replicas, std::move(link), std::move(clipping));
  return std::make_unique<HostExchange>(replicas, std::move(clipping));
}

}  // namespace pagoda
