#include "seq2seq_loss.h"

namespace pagoda::app {

Scored score_pairs(Seq2Seq& model, const SequenceBatch& batch) {
  const Seq2SeqOptions& options = model->options();
  Candidates candidates;
  if (options.softmax == SoftmaxKind::sampled && model->is_training()) {
    candidates = draw_candidates(options.target_vocabulary, options.samples, batch.step_seed);
  }
  const SoftmaxLoss loss =
      model->loss(batch.source, batch.source_lengths, batch.target, candidates);
  return {.loss = loss.loss, .metrics = {{"nll", loss.negative_log_likelihood}}};
}

}  // namespace pagoda::app
