#pragma once

#include <pagoda/run/run_options.h>
#include <pagoda/run/run_summary.h>

#include <string>

#include "text/seq2seq_flags.h"

namespace pagoda::app {

/// The model's own options of `pagoda train seq2seq`.
struct Seq2SeqFlags {
  TextFlags text;
  NetworkFlags network;
};
void add_seq2seq_flags(CLI::App& command, Seq2SeqFlags& flags);

/// The defaults for text, where they are not those for images.
RunOptions seq2seq_defaults();

/// The options that a run was trained with, from its configuration.
Seq2SeqFlags options_of_run(const std::string& config);

/// A whole run of the seq2seq model; see Run. The vocabularies are learned from the training text
/// and kept with the run.
RunSummary train_seq2seq(const RunOptions& options, const Seq2SeqFlags& flags);

}  // namespace pagoda::app
