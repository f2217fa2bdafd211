#pragma once

#include <pagoda/optim/own_update.h>

#include <memory>
#include <vector>

#include "optim/part_updater.h"

namespace pagoda {

/// An update by a formula of the user's, element by element in one fused pass.
/// Fails: UsageError for parameters outside of CPU memory, or for names of its state that are empty,
/// taken, or too many.
std::unique_ptr<PartUpdater> make_element_updater(
    const std::vector<NamedTensor>& parameters, std::shared_ptr<const detail::ElementUpdate> update,
    const UpdateOptions& options, UpdatePart part);

/// An update by a formula of the user's for whole parameters, on any one device.
/// Fails: UsageError as above, for a part of the elements, and for lazy rows.
std::unique_ptr<PartUpdater> make_whole_updater(const std::vector<NamedTensor>& parameters,
                                                std::shared_ptr<const detail::WholeUpdate> update,
                                                const UpdateOptions& options, UpdatePart part);

}  // namespace pagoda
