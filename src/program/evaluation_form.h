#pragma once

#include <vector>

#include "program/graph.h"
#include "program/graph_compiler.h"
#include "program/operator_table.h"

namespace pagoda {

/// A program that was written in training mode, turned over to evaluation.
///
/// Training is part of a program: `batch_norm(…, training=true)`. This turns such flags off, leaves
/// out the changes of buffers that only training makes (the count of batches), and gives attention
/// no dropout. That is not always what the model does in evaluation: one that draws random numbers
/// of its own (stochastic depth) or computes with what it changes (spectral norm) has problems.
struct EvaluationForm {
  Graph graph;
  std::vector<ProgramProblem> problems;  ///< why the graph is not the model in evaluation
};

EvaluationForm evaluation_form(const GraphProgram& program, const OperatorTable& operators);

}  // namespace pagoda
