#pragma once

#include <string>
#include <vector>

#include "bench/choice.h"

namespace pagoda::app {

/// A choice, and the standing whose rate the others are compared with.
struct ComparedChoice {
  const Choice& choice;
  const Standing& unit;

  /// The rate over the unit's, in the rounds that both were in.
  double relative(const Standing& standing) const { return standing.relative / unit.relative; }
};

/// A row for each way, the fastest first; of several processes with what the link costs.
std::string choice_table(const ComparedChoice& compared);

/// The same of several choices as a JSON array.
std::string choice_json(const std::vector<ComparedChoice>& all);

}  // namespace pagoda::app
