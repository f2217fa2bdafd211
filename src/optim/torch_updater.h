#pragma once

#include <pagoda/optim/updater.h>

#include <memory>
#include <optional>
#include <vector>

namespace torch::optim {
class Optimizer;
}

namespace pagoda {

/// Lets a `torch::optim::Optimizer` of the user do the update: the towers' gradients are combined
/// in parallel into the parameters' `grad()`, then its `step()` runs on one thread.
///
/// The optimizer must have been built from the towers' parameters, must outlive the updater, and
/// keeps its own learning rate unless `learning_rate` is given. Where all groups have the same rate,
/// that is then written into them; where their rates differ, each keeps its own, times
/// learning_rate / learning_rate.base(). Their own rates are those that they have now, or when they
/// are added: loading does not change them. Row-sparse gradients reach it as sparse tensors.
///
/// `state()` holds what the optimizer's own `save()` writes, also its groups' options; `load()`
/// gives that to its `load()`. LibTorch's optimizers have both. A class of the user's must override
/// them, or else `state()` fails with a UsageError; training without checkpoints works. Fails:
/// UsageError for LBFGS, which wants to compute the loss itself, and for a parameter that is not a
/// float or double tensor in CPU memory without gaps.
std::unique_ptr<Updater> make_torch_updater(
    const std::vector<NamedTensor>& parameters, torch::optim::Optimizer& optimizer,
    const UpdateOptions& options, std::optional<LearningRate> learning_rate = std::nullopt);

}  // namespace pagoda
