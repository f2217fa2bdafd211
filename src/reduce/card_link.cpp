#include "reduce/card_link.h"

#include <pagoda/base/error.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "tower/parameter_copies.h"

namespace pagoda {
namespace {

/// "sim" or "cuda"; "none" where these towers can be on no link.
std::string link_kind(const Replicas& replicas, bool alone) {
  const DeviceKind kind = replicas.device(0).kind;
  const ParameterPlacement placement = replicas.placement();
  const bool updates = placement == ParameterPlacement::mirrored ||
                       (placement == ParameterPlacement::spread && alone);
  bool fits = updates && (kind == DeviceKind::sim || (kind == DeviceKind::cuda && has_nccl()));
  for (int tower = 1; tower < replicas.size(); ++tower)
    fits = fits && replicas.device(tower).kind == kind;
  return fits ? kind_name(kind) : "none";
}

/// Where this process's cards stand among all; nothing where the processes' are not of one kind.
std::optional<LinkPlace> place_among(const LinkPeers& peers, const std::string& kind, int towers) {
  const auto all = peers.gather(kind + " " + std::to_string(towers));
  LinkPlace place;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    std::istringstream words(all[rank]);
    std::string other_kind;
    int count = 0;
    words >> other_kind >> count;
    if (other_kind != kind) return std::nullopt;
    if (static_cast<int>(rank) < peers.rank) place.first += count;
    place.total += count;
  }
  return place;
}

}  // namespace

void check_card_values(const at::Tensor& values) {
  switch (values.scalar_type()) {
    case at::kFloat:
    case at::kDouble:
    case at::kHalf:
    case at::kBFloat16:
      return;
    default:
      throw UsageError(std::string("cards cannot sum values of type ") +
                       c10::toString(values.scalar_type()) + "; place parameters host");
  }
}

std::unique_ptr<CardLink> make_card_link(const Replicas& replicas,
                                         const std::optional<LinkPeers>& peers) {
  const std::string kind = link_kind(replicas, !peers);
  const std::optional<LinkPlace> place =
      peers ? place_among(*peers, kind, replicas.size()) : LinkPlace{.total = replicas.size()};
  if (!place || place->total == 1 || kind == "none") return nullptr;
  return kind == kind_name(DeviceKind::sim) ? make_sim_link(replicas, *place, peers)
                                            : make_nccl_link(replicas, *place, peers);
}

}  // namespace pagoda
