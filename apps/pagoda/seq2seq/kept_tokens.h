#pragma once

#include <pagoda/data/data_input.h>
#include <pagoda/text/token_file.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "seq2seq/seq2seq_flags.h"

namespace pagoda::app {

/// The files that tokens are made of with their sizes and times, and the options that count, a line
/// each; empty for text that is not in files, whose tokens are not kept.
std::string file_inputs(const TextFlags& flags);

/// The same with the vocabularies: what is kept as `EncodedText::inputs`.
std::string with_vocabularies(const std::string& files, const std::vector<DataInput>& vocabularies);

/// Where a directory of vocabularies keeps tokens.
std::filesystem::path kept_token_file(const std::filesystem::path& directory);

struct KeptTokens {
  std::optional<EncodedText> text = std::nullopt;
  std::string remark = {};  ///< for the log: where they are from, or why they were not used
};

/// The tokens of a directory, if they are there, whole, and of these inputs.
KeptTokens read_kept_tokens(const std::filesystem::path& directory, const std::string& inputs);

}  // namespace pagoda::app
