#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>

namespace pagoda {

/// A stream of a card; number 0 is the card's default stream.
struct SimStream {
  int card = 0;
  int number = 0;

  auto operator<=>(const SimStream&) const = default;
};

/// A place in a stream: after so many operations of it.
struct SimMoment {
  SimStream stream;
  std::int64_t count = 0;
};

/// How far each stream is known to have come, by whoever has this clock (a vector clock).
class SimClock {
 public:
  bool has(const SimMoment& moment) const {
    if (moment.count == 0) return true;
    const auto found = counts_.find(moment.stream);
    return found != counts_.end() && found->second >= moment.count;
  }

  void advance(const SimMoment& moment) {
    std::int64_t& count = counts_[moment.stream];
    count = std::max(count, moment.count);
  }

  void merge(const SimClock& other) {
    for (const auto& [stream, count] : other.counts_) advance({stream, count});
  }

 private:
  std::map<SimStream, std::int64_t> counts_;
};

/// What a stream's next operation comes after: what the stream has waited for, and what the host.
struct SimKnown {
  const SimClock& stream;
  const SimClock& host;

  bool has(const SimMoment& moment) const { return stream.has(moment) || host.has(moment); }
};

}  // namespace pagoda
