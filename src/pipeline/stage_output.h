#pragma once

#include <pagoda/pipeline/stages.h>

namespace pagoda {

/// Takes the output layer out of the last stage, so that every stage can compute it.
/// Fails: UsageError when it has buffers.
void split_output(StagedReplica& replica);

/// The output layer of another stage: `layer` of `model`, on that stage's device. All other tensors
/// of `model` give up their memory. Where the devices share memory, so do the layers.
/// Fails: UsageError when the layer's tensors are not like those of the replica's own.
void add_output(StagedReplica& replica, int stage, std::shared_ptr<torch::nn::Module> model,
                Layer layer);

/// Gives a stage's output layer the values and the mode of the replica's own, and no gradients.
/// Threads: that of the stage, before it computes the layer.
void renew_output(const StagedReplica& replica, int stage);

/// Adds to the gradients of tensors those of a copy of them; undefined ones do not count.
void add_gradients(const Tensors& tensors, const Tensors& gradients);

}  // namespace pagoda
