#pragma once

#include <pagoda/params/parameter_table.h>
#include <pagoda/program/exported_program.h>

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include "program/graph.h"
#include "program/graph_compiler.h"
#include "program/input_check.h"
#include "program/input_source.h"
#include "program/program_block.h"

namespace pagoda {

/// A graph or a part of one, and where its inputs come from.
struct ProgramPart {
  std::unique_ptr<const ProgramBlock> block;
  std::vector<InputSource> sources;
  std::string name = {};
};

/// A program in one of its forms, with all that a call of it needs.
struct ProgramForm {
  ProgramPart whole;
  std::vector<ProgramPart> layers;  ///< the same, cut as the options say
  InputCheck check;
  std::vector<std::string> output_names;
};

/// What all copies of a model share: the program without its tensors.
/// Threads: any; it does not change.
class ProgramCode {
 public:
  ProgramForm training;
  std::optional<ProgramForm> evaluation;
  std::string no_evaluation;  ///< why there is none
};

/// A tensor of the state dict.
struct StateEntry {
  std::string name;
  at::Tensor initial;  ///< over the file's memory
  bool is_parameter;
  bool requires_grad;
  std::size_t same_as;  ///< the first entry that stands for this tensor, for tied weights
};

/// A program with its weights, or with what is wrong with it.
struct LoadedProgram {
  std::string file;
  std::shared_ptr<const ProgramCode> code = nullptr;  ///< null where there are problems
  std::vector<StateEntry> state = {};
  std::vector<NamedTensor> constants = {};
  std::vector<ProgramProblem> problems = {};
  GraphProgram training;        ///< for people
  std::string evaluation = {};  ///< how it is evaluated, for people
};

/// Fails: IoError, DataError; problems do not throw.
LoadedProgram load_program(const std::filesystem::path& file, const ProgramOptions& options);

/// "aten::foo is not in this version of LibTorch (module 'head', 2 times); …"
std::string problems_text(const std::vector<ProgramProblem>& problems);

}  // namespace pagoda
