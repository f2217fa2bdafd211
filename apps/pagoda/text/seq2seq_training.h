#pragma once

#include <string>

#include "run/training_run.h"
#include "text/seq2seq_flags.h"

namespace pagoda::app {

/// All options of `pagoda train seq2seq`.
struct Seq2SeqCommand {
  Seq2SeqCommand();  ///< with the defaults for text where they are not those for images

  TrainFlags train;
  TextFlags text;
  NetworkFlags network;
};
void add_seq2seq_command_flags(CLI::App& command, Seq2SeqCommand& flags);

/// The options that a run was trained with, from its configuration.
Seq2SeqCommand options_of_run(const std::string& config);

/// A whole run of the seq2seq model; see `train`. The vocabularies are learned from the training
/// text and kept with the run.
TrainingSummary train_seq2seq(const TrainFlags& flags, const TextFlags& text,
                              const NetworkFlags& network, const std::string& config);

}  // namespace pagoda::app
