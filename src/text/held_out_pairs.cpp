#include <pagoda/text/held_out_pairs.h>

#include <algorithm>
#include <utility>

namespace pagoda {
namespace {

constexpr std::int64_t kMostHeldOut = 1000;

class PairsInMemory : public PairReader {
 public:
  explicit PairsInMemory(std::vector<PairText> pairs) : pairs_(std::move(pairs)) {}

  std::optional<TextPair> next() override {
    const auto number = static_cast<std::size_t>(report_.pairs);
    if (number == pairs_.size()) return std::nullopt;
    ++report_.pairs;
    return TextPair{pairs_[number].source, pairs_[number].target};
  }

 private:
  const std::vector<PairText> pairs_;
};

}  // namespace

std::unique_ptr<PairReader> read_pairs(std::vector<PairText> pairs) {
  return std::make_unique<PairsInMemory>(std::move(pairs));
}

std::int64_t held_out_count(std::int64_t pairs) { return std::min(kMostHeldOut, pairs / 20); }

HeldOutPairs::HeldOutPairs(std::unique_ptr<PairReader> pairs, std::int64_t max_pairs)
    : pairs_(std::move(pairs)),
      max_pairs_(max_pairs),
      last_(static_cast<std::size_t>(kMostHeldOut)) {}

/// The pair in `current_`, if it is still wanted.
std::optional<TextPair> HeldOutPairs::given() {
  ++passed_;
  if (report_.pairs == max_pairs_) return std::nullopt;
  ++report_.pairs;
  return TextPair{current_.source, current_.target};
}

void HeldOutPairs::end() {
  const std::int64_t given = report_.pairs;
  report_ = pairs_->report();
  report_.pairs = given;
  ended_ = true;
}

std::optional<TextPair> HeldOutPairs::next() {
  while (!ended_) {
    const auto pair = pairs_->next();
    if (!pair) {
      end();
      break;
    }
    PairText& place = last_[static_cast<std::size_t>(read_ % kMostHeldOut)];
    std::swap(current_, place);
    place.source = pair->source;
    place.target = pair->target;
    if (read_++ < kMostHeldOut) continue;
    if (const auto passing = given()) return passing;
  }
  while (passed_ < read_ - held_out_count(read_)) {
    std::swap(current_, last_[static_cast<std::size_t>(passed_ % kMostHeldOut)]);
    if (const auto passing = given()) return passing;
  }
  return std::nullopt;
}

std::vector<PairText> HeldOutPairs::take_held_out() {
  std::vector<PairText> pairs;
  for (std::int64_t i = passed_; i < read_; ++i) {
    pairs.push_back(std::move(last_[static_cast<std::size_t>(i % kMostHeldOut)]));
  }
  passed_ = read_;
  return pairs;
}

}  // namespace pagoda
