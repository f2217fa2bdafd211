#pragma once

#include <pagoda/text/shortlist.h>

#include <filesystem>

#include "seq2seq/run_vocabularies.h"
#include "seq2seq/seq2seq_flags.h"

namespace pagoda::app {

/// Where a run keeps its shortlist.
std::filesystem::path shortlist_file(const std::filesystem::path& run);

/// A run's shortlist: that of its file or, the first time, learnt from the text that it was trained on and
/// kept there. Where it cannot be kept, a line on stderr says so.
/// Fails: DataError when the file is damaged or of other vocabularies; as load_text when it has to be learnt.
Shortlist run_shortlist(const std::filesystem::path& run, const TextFlags& flags,
                        const Codecs& codecs);

}  // namespace pagoda::app
