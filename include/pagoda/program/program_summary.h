#pragma once

#include <pagoda/program/exported_program.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace pagoda {

/// What a `.pt2` file contains, for display, even if its program cannot be run here.
struct ProgramSummary {
  /// An input or an output.
  struct Value {
    std::string name;   ///< as in forward
    std::string about;  ///< "float32 [s17, 3, 32, 32]"; a size given as a symbol may vary
  };
  /// A parameter or a buffer.
  struct Tensor {
    std::string name;            ///< as in the state dict
    std::string about;           ///< "float32 [64, 3, 7, 7]"
    std::int64_t elements = 0;   ///< 0 for a tensor that is tied to another
    bool is_parameter = false;   ///< false: a buffer
    bool requires_grad = false;  ///< whether it is trained
    std::string tied_to = {};    ///< the tensor it is tied to; empty: none
  };

  std::string torch_version;                           ///< version of torch that wrote the file
  std::vector<Value> inputs;                           ///< of forward, in order
  std::vector<Value> outputs;                          ///< of forward, in order
  std::vector<Tensor> tensors;                         ///< of the state dict
  std::vector<std::pair<std::string, int>> operators;  ///< with counts, the most frequent first
  std::vector<std::string> problems;                   ///< what cannot be run; empty: nothing
  std::string evaluation;                              ///< how it is evaluated, or why it cannot be
};

/// Reads a `.pt2` file and describes it.
/// Fails: as ExportedProgram, except that what cannot be run is listed in `problems`.
ProgramSummary describe_program(const std::filesystem::path& file,
                                const ProgramOptions& options = {});

}  // namespace pagoda
