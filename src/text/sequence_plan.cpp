#include <pagoda/base/error.h>
#include <pagoda/text/sequence_plan.h>

#include <algorithm>
#include <charconv>
#include <string>

#include "base/random_streams.h"

namespace pagoda {
namespace {

constexpr std::int64_t kWindowBatches = 128;
constexpr std::size_t kRunBatches = 8;

void require_positive(std::int64_t value, const char* what) {
  if (value < 1) {
    throw UsageError(std::string(what) + " is " + std::to_string(value) +
                     "; it must be at least 1");
  }
}

std::int64_t parse_length(std::string_view text, std::string_view whole) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1) {
    throw UsageError("\"" + std::string(whole) +
                     "\" is not a bucket; write source and target length as in 20:25");
  }
  return value;
}

template <class Item>
void shuffle(std::vector<Item>& items, SplitMix64& random) {
  for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[random.below(i)]);
}

}  // namespace

std::vector<LengthBucket> parse_buckets(std::string_view text) {
  std::vector<LengthBucket> buckets;
  while (true) {
    const std::string_view one = text.substr(0, text.find(','));
    const std::size_t colon = std::min(one.find(':'), one.size());
    const std::string_view target = one.substr(std::min(colon + 1, one.size()));
    buckets.push_back({parse_length(one.substr(0, colon), one), parse_length(target, one)});
    if (one.size() == text.size()) return buckets;
    text.remove_prefix(one.size() + 1);
  }
}

/// Collects pairs into batches of the right size.
class SequencePlan::Cutter {
 public:
  explicit Cutter(const SequencePlanOptions& options) : options_(options) {}

  /// Adds a pair and gives the batch that is full without it, if it is.
  void add(const Length& length, std::vector<Batch>& full) {
    const std::int64_t source = std::max<std::int64_t>(longest_source_, length.source);
    const std::int64_t target = std::max<std::int64_t>(longest_target_, length.target);
    const auto count = static_cast<std::int64_t>(batch_.size()) + 1;
    const bool fits = options_.batch_tokens ? count * (source + target) <= *options_.batch_tokens
                                            : count <= options_.batch_size;
    if (!fits && !batch_.empty()) {
      end(full);
      return add(length, full);
    }
    longest_source_ = source;
    longest_target_ = target;
    batch_.push_back(length.pair);
  }

  void end(std::vector<Batch>& full) {
    if (!batch_.empty()) full.push_back(std::move(batch_));
    batch_.clear();
    longest_source_ = 0;
    longest_target_ = 0;
  }

 private:
  const SequencePlanOptions& options_;
  Batch batch_;
  std::int64_t longest_source_ = 0;
  std::int64_t longest_target_ = 0;
};

SequencePlan::SequencePlan(const PairStore& pairs, int towers, const SequencePlanOptions& options)
    : options_(options), batches_per_step_(std::int64_t{towers} * options.feeds_per_tower) {
  require_positive(towers, "the number of towers");
  require_positive(options.feeds_per_tower, "the number of feeds for each tower");
  require_positive(options.batch_size, "the batch size");
  require_positive(options.batch_tokens.value_or(1), "the batch size in tokens");
  Cutter cutter(options);
  std::vector<Batch> full;
  for (std::int64_t i = 0; i < pairs.size(); ++i) {
    const auto source = static_cast<std::int32_t>(pairs.sources[i].size());
    const auto target = static_cast<std::int32_t>(pairs.targets[i].size());
    const auto bucket = std::find_if(
        options.buckets.begin(), options.buckets.end(),
        [&](const LengthBucket& one) { return source <= one.source && target <= one.target; });
    if (bucket == options.buckets.end() && !options.buckets.empty()) {
      ++left_out_;
      continue;
    }
    const Length length{i, source, target + 1,
                        static_cast<std::int32_t>(bucket - options.buckets.begin())};
    if (options.first_steps > 0) {
      cutter.add(length, full);
      if (std::ssize(full) >= options.first_steps * batches_per_step_) break;
    }
    lengths_.push_back(length);
  }
  require_positive(this->pairs(), "the number of pairs (that fit into a bucket)");
}

std::vector<SequencePlan::Length> SequencePlan::shuffled(std::int64_t epoch) const {
  std::vector<Length> order = lengths_;
  if (options_.shuffle) {
    SplitMix64 random(RandomStreams(options_.seed).shuffle(epoch));
    shuffle(order, random);
  }
  return order;
}

/// Puts runs of batches into random order.
void SequencePlan::mix(std::vector<Batch>& batches, std::int64_t epoch) const {
  std::vector<std::vector<Batch>> runs;
  for (std::size_t i = 0; i < batches.size(); ++i) {
    if (i % kRunBatches == 0) runs.emplace_back();
    runs.back().push_back(std::move(batches[i]));
  }
  SplitMix64 random(RandomStreams(options_.seed).shuffle(epoch) + 1);
  shuffle(runs, random);
  batches.clear();
  for (auto& run : runs) std::move(run.begin(), run.end(), std::back_inserter(batches));
}

std::vector<SequencePlan::Batch> SequencePlan::batches(std::int64_t epoch) const {
  std::vector<Length> order = shuffled(epoch);
  std::vector<Batch> batches;
  if (!options_.buckets.empty()) {
    std::vector<Cutter> cutters(options_.buckets.size(), Cutter(options_));
    for (const Length& length : order) {
      cutters[static_cast<std::size_t>(length.bucket)].add(length, batches);
    }
    for (Cutter& cutter : cutters) cutter.end(batches);
    return batches;
  }
  const std::int64_t batch_pairs = options_.batch_tokens
                                       ? std::max<std::int64_t>(1, *options_.batch_tokens / 32)
                                       : options_.batch_size;
  const auto window = static_cast<std::size_t>(
      std::min(pairs(), batch_pairs > pairs() ? pairs() : batch_pairs * kWindowBatches));
  Cutter cutter(options_);
  for (std::size_t begin = 0; begin < order.size(); begin += window) {
    const auto from = order.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto to = from + static_cast<std::ptrdiff_t>(std::min(window, order.size() - begin));
    // Sources go up and down in turn, so that neighbours differ little on both sides.
    std::stable_sort(from, to, [](const Length& a, const Length& b) {
      if (a.target != b.target) return a.target < b.target;
      return a.target % 2 == 0 ? a.source < b.source : a.source > b.source;
    });
    for (auto it = from; it != to; ++it) cutter.add(*it, batches);
    cutter.end(batches);
  }
  if (options_.shuffle) mix(batches, epoch);
  return batches;
}

std::shared_ptr<const SequenceEpoch> SequencePlan::epoch(std::int64_t number) const {
  std::lock_guard lock(mutex_);
  auto held = last_.lock();
  if (held && held->number() == number) return held;
  held = std::make_shared<SequenceEpoch>(number, batches(number));
  last_ = held;
  ++epochs_computed_;
  return held;
}

std::int64_t SequencePlan::epochs_computed() const {
  std::lock_guard lock(mutex_);
  return epochs_computed_;
}

}  // namespace pagoda
