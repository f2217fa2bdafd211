#pragma once

#include <pagoda/program/exported_program.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace pagoda {

/// What a `.pt2` file holds, for people; of a program that cannot be run here, too.
struct ProgramSummary {
  /// An input or output.
  struct Value {
    std::string name;   ///< as forward calls it
    std::string about;  ///< "float32 [s17, 3, 32, 32]"; sizes that are no numbers may vary
  };
  /// A parameter or buffer.
  struct Tensor {
    std::string name;            ///< as in the state dict
    std::string about;           ///< "float32 [64, 3, 7, 7]"
    std::int64_t elements = 0;   ///< 0 for one that is tied to another
    bool is_parameter = false;   ///< or a buffer
    bool requires_grad = false;  ///< whether it is trained
    std::string tied_to = {};    ///< empty: to none
  };

  std::string torch_version;                           ///< that wrote it
  std::vector<Value> inputs;                           ///< of forward, in their order
  std::vector<Value> outputs;                          ///< of what forward gives, in its order
  std::vector<Tensor> tensors;                         ///< of the state dict
  std::vector<std::pair<std::string, int>> operators;  ///< with counts, the most frequent first
  std::vector<std::string>
      problems;            ///< what cannot be run; empty for a program that can be trained
  std::string evaluation;  ///< how it is evaluated, or why it cannot be
};

/// Fails: IoError when the file cannot be read; DataError that names it when it is damaged or of
/// another format.
ProgramSummary describe_program(const std::filesystem::path& file,
                                const ProgramOptions& options = {});

}  // namespace pagoda
