#pragma once

#include <pagoda/models/sequence_model.h>
#include <pagoda/text/sequence_batches.h>
#include <pagoda/train/scored.h>

#include <memory>

namespace pagoda::app {

using SequenceModelPtr = std::shared_ptr<SequenceModel>;

/// Loss of a batch and, as `nll`, the likelihood without smoothing. In training with the sampled
/// softmax the candidates are those of the batch's step.
Scored score_pairs(const SequenceModelPtr& model, const SequenceBatch& batch);

/// The same of what a pipeline's last layer gave, and what its first layer takes.
Scored score_outputs(const SequenceModelPtr& model, const Tensors& outputs,
                     const SequenceBatch& batch);
Tensors tensors_of_pairs(const SequenceBatch& batch);

}  // namespace pagoda::app
