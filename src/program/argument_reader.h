#pragma once

#include <pagoda/base/json_value.h>

#include "program/graph.h"

namespace pagoda {

/// What a node takes or gives, as `{"as_tensor": {"name": "x"}}` and the like. A kind that is not
/// known becomes GraphArgument::Kind::unsupported.
/// Fails: DataError for what is no such thing.
GraphArgument read_argument(const JsonValue& value);

/// A size of a tensor: {"as_int": 3}, or {"as_expr": {"expr_str": …}}.
GraphSize read_size(const JsonValue& value);

/// A number that may be infinite, which JSON has as text.
double read_double(const JsonValue& value);

}  // namespace pagoda
