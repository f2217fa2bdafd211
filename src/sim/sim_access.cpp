#include "sim/sim_access.h"

#include <pagoda/base/error.h>

namespace pagoda {
namespace {

std::string text_of(const SimStream& stream) {
  return (stream.number == 0 ? "the default stream"
                             : "stream " + std::to_string(stream.number)) +
         " of sim:" + std::to_string(stream.card);
}

void check_order(const std::string& what, const char* does, const SimMoment& now,
                 const SimMoment& before, const char* did, const SimKnown& known) {
  if (before.stream == now.stream || known.has(before)) return;
  throw UsageError(what + " " + does + " on " + text_of(now.stream) + " what " +
                   text_of(before.stream) + " has not finished " + did +
                   "; let it wait for an event that is recorded there");
}

}  // namespace

void SimAccess::read(const std::string& what, const SimMoment& now, const SimKnown& known) {
  check_order(what, "reads", now, written_, "writing", known);
  for (SimMoment& other : read_) {
    if (other.stream != now.stream) continue;
    other = now;
    return;
  }
  read_.push_back(now);
}

void SimAccess::write(const std::string& what, const SimMoment& now, const SimKnown& known) {
  check_order(what, "writes", now, written_, "writing", known);
  for (const SimMoment& other : read_) check_order(what, "writes", now, other, "reading", known);
  written_ = now;
  read_.clear();
}

std::string SimAccess::freed(const SimKnown& known) const {
  std::vector<SimMoment> uses = read_;
  uses.push_back(written_);
  for (const SimMoment& use : uses) {
    if (use.stream == home_ || known.has(use) || recorded_.contains(use.stream)) continue;
    return "memory of " + text_of(home_) + " was freed while " + text_of(use.stream) +
           " still uses it; call record_stream on the tensor";
  }
  return "";
}

}  // namespace pagoda
