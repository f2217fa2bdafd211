#pragma once

#include <pagoda/doctor/machine_facts.h>

#include <string>
#include <vector>

namespace pagoda {

/// How well something is.
enum class Health {
  fine,
  note,   ///< works, but slower or with less than there could be
  wrong,  ///< something does not work, or will soon stop to
};

/// What was found out about one thing.
struct Finding {
  Health health = Health::fine;  ///< how well it is
  std::string subject;           ///< "LibTorch", "memory"
  std::string text;              ///< what was found
  std::string remedy = {};       ///< a command, or what to do; empty where there is nothing to mend
};

/// Judges the facts, one finding or more a subject, in a fixed order.
///
/// Example: `for (const Finding& finding : examine(machine_facts())) …`
std::vector<Finding> examine(const MachineFacts& facts);

/// "fine", "note", "wrong".
const char* health_name(Health health);

}  // namespace pagoda
