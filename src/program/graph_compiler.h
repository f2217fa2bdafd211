#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "program/graph.h"
#include "program/operator_table.h"
#include "program/program_block.h"

namespace pagoda {

/// Something of a program that cannot be run, and where it stands.
struct ProgramProblem {
  std::string what;    ///< "aten::foo is not in this version of LibTorch"
  std::string module;  ///< the first one that has it; empty for the model's own forward
  int count = 1;
};

/// Adds a problem, or counts one that is there already.
void add_problem(std::vector<ProgramProblem>& problems, const std::string& what,
                 const std::string& module);

/// Makes graphs ready to run, and notes everything in them that cannot be.
///
/// Threads: one at a time.
class GraphCompiler {
 public:
  explicit GraphCompiler(const OperatorTable& operators) : operators_(operators) {}

  /// Null when something of it cannot be run; `problems` then has all of that.
  /// Fails: DataError when the graph contradicts itself.
  std::unique_ptr<const ProgramBlock> compile(const Graph& graph);

  const std::vector<ProgramProblem>& problems() const { return problems_; }

 private:
  friend class BlockMaker;
  const OperatorTable& operators_;
  std::vector<ProgramProblem> problems_;
};

}  // namespace pagoda
