#pragma once

#include <pagoda/checkpoint/state_dict.h>
#include <pagoda/run/run_options.h>

#include <string>

namespace pagoda {

/// Whether a run has no checkpoint to resume from, by what its directory holds; a checkpoint that
/// turns up later all the same goes first. Changes nothing.
bool begins_anew(const RunOptions& options);

/// What the log says about weights that a run begins with; of many names the first few.
std::string initial_weights_text(const std::string& file, const LoadResult& loaded);

}  // namespace pagoda
