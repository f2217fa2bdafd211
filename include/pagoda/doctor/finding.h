#pragma once

#include <pagoda/doctor/machine_facts.h>

#include <string>
#include <vector>

namespace pagoda {

/// The verdict on a subject.
enum class Health {
  fine,
  note,   ///< works, but slower or with less than possible
  wrong,  ///< does not work, or will soon stop working
};

/// What was found out about one subject.
struct Finding {
  Health health = Health::fine;  ///< the verdict
  std::string subject;           ///< "LibTorch", "memory"
  std::string text;              ///< what was found
  std::string remedy = {};       ///< a command, or what to do; empty if there is nothing to fix
};

/// Judges the facts: one finding or more for each subject, in a fixed order.
///
/// Example: `for (const Finding& finding : examine(machine_facts())) …`
std::vector<Finding> examine(const MachineFacts& facts);

/// "fine", "note", "wrong".
const char* health_name(Health health);

}  // namespace pagoda
