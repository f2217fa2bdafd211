#pragma once

#include <pagoda/base/json_value.h>

#include "program/graph.h"

namespace pagoda {

/// A program from the JSON of a `.pt2` file. What it computes with is checked later, by whoever
/// compiles it.
///
/// Fails: DataError that says what is wrong; the caller names the file. Refused are other versions
/// of the format, and programs that were decomposed, which compute other gradients.
GraphProgram read_program(const JsonValue& json);

/// A graph alone, as a node may have one.
Graph read_graph(const JsonValue& json);

}  // namespace pagoda
