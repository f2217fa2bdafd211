#pragma once

#include "model/known_model.h"

namespace pagoda::app {

/// Encoder and decoder with attention: trained on sentence pairs, measured on random sequences.
KnownModel seq2seq_model();

}  // namespace pagoda::app
