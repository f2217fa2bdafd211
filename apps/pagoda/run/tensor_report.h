#pragma once

#include <pagoda/checkpoint/checkpoint.h>
#include <pagoda/checkpoint/state_dict.h>

#include <string>
#include <vector>

namespace pagoda::app {

/// "4 tensors, 61,706 numbers, 241.0 KiB".
std::string totals_text(const std::vector<NamedTensor>& tensors);

/// A table of names, types, shapes and bytes; empty for none.
std::string tensor_table_text(const std::vector<NamedTensor>& tensors);

/// What a file of weights holds, as lines.
std::string weights_report(const WeightsFile& file);

/// What a checkpoint holds, as lines: where the run stands, its tensors and its configuration.
std::string checkpoint_report(const Checkpoint& checkpoint);

}  // namespace pagoda::app
