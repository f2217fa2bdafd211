#pragma once

#include <pagoda/models/seq2seq.h>
#include <pagoda/models/transformer.h>

#include <variant>

#include "seq2seq/seq2seq_loss.h"

namespace pagoda::app {

/// The networks that can be trained on sentence pairs.
using NetworkOptions = std::variant<Seq2SeqOptions, TransformerOptions>;

/// Fails: UsageError for options that cannot be.
SequenceModelPtr make_network(const NetworkOptions& options);

}  // namespace pagoda::app
