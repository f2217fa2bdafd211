#include "seq2seq/seq2seq_loss.h"

namespace pagoda::app {
namespace {

Candidates candidates_of(const SequenceModelPtr& model, const SequenceBatch& batch) {
  const TokenOptions& options = model->tokens();
  if (options.softmax == SoftmaxKind::full || !model->is_training()) return {};
  return draw_candidates(options.target_vocabulary, options.samples, batch.step_seed);
}

Scored scored(const SoftmaxLoss& loss) {
  return {.loss = loss.loss, .metrics = {{"nll", loss.negative_log_likelihood}}};
}

}  // namespace

Scored score_pairs(const SequenceModelPtr& model, const SequenceBatch& batch) {
  return scored(
      model->loss(batch.source, batch.source_lengths, batch.target, candidates_of(model, batch)));
}

Scored score_outputs(const SequenceModelPtr& model, const Tensors& outputs,
                     const SequenceBatch& batch) {
  return scored(model->softmax(outputs, candidates_of(model, batch)));
}

Tensors tensors_of_pairs(const SequenceBatch& batch) {
  return {batch.source, batch.source_lengths, batch.target};
}

}  // namespace pagoda::app
