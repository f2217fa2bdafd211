#pragma once

#include <pagoda/checkpoint/checkpoint.h>

namespace pagoda {

/// What a file means that has no such entry.
enum class Absent {
  damage,         ///< every file has it: this is not a checkpoint
  keeps_default,  ///< it was written before there was one
  stays_out,      ///< the same, or there is nothing in it: no tensor, no number, or 0
};

/// The entries of a checkpoint file besides `format`, in the file's order: `visit(name, field,
/// absent)` for each. Whoever writes, reads or compares checkpoints goes by it, so that a new field
/// is one line here. Fields that come later keep their default where an older file lacks them.
///
/// `Whole` is a Checkpoint or a const one; a field is a whole number, a number, one that may be
/// missing, text, tensors by name, or bytes.
template <class Whole, class Visit>
void visit_fields(Whole& checkpoint, Visit visit) {
  auto& state = checkpoint.state;
  visit("model", checkpoint.model, Absent::damage);
  visit("average", checkpoint.average, Absent::damage);
  visit("optimizer", checkpoint.optimizer, Absent::damage);
  visit("torch_optimizer", checkpoint.torch_optimizer, Absent::keeps_default);
  visit("step", state.step, Absent::damage);
  visit("epoch", state.position.epoch, Absent::damage);
  visit("consumed", state.position.consumed, Absent::damage);
  visit("samples", state.samples, Absent::damage);
  visit("seed", checkpoint.seed, Absent::damage);
  visit("towers", checkpoint.towers, Absent::damage);
  visit("best", state.best, Absent::damage);
  visit("best_step", state.best_step, Absent::damage);
  visit("stale_validations", state.stale_validations, Absent::damage);
  visit("lowest_loss", state.lowest_loss, Absent::keeps_default);
  visit("stalled_validations", state.stalled_validations, Absent::keeps_default);
  visit("rate_factor", state.rate_factor, Absent::keeps_default);
  visit("loss_scale", state.loss_scale.scale, Absent::stays_out);
  visit("loss_scale_steps", state.loss_scale.good_steps, Absent::stays_out);
  visit("overflows", state.loss_scale.overflows, Absent::stays_out);
  visit("exchange", checkpoint.exchange, Absent::stays_out);
  visit("config", checkpoint.config, Absent::damage);
}

}  // namespace pagoda
