#include <pagoda/base/error.h>
#include <pagoda/text/shortlist.h>

#include <algorithm>
#include <numeric>
#include <string>

namespace pagoda {
namespace {

constexpr int kIterations = 5;
constexpr std::int64_t kFrequent = 5;  // frequent tokens for each likely one; rare words need them

/// Some of the pairs, evenly spread.
class SomePairs {
 public:
  SomePairs(const PairStore& pairs, std::int64_t most)
      : pairs_(pairs), count_(std::min(pairs.size(), most)) {}

  std::int64_t size() const { return count_; }
  std::span<const TokenId> source(std::int64_t i) const { return pairs_.sources[number(i)]; }
  std::span<const TokenId> target(std::int64_t i) const { return pairs_.targets[number(i)]; }

 private:
  std::int64_t number(std::int64_t i) const { return i * pairs_.size() / count_; }

  const PairStore& pairs_;
  const std::int64_t count_;
};

/// The chances of target tokens given each source token, of those that occur together. The last row
/// stands for no source token at all.
class AlignmentTable {
 public:
  AlignmentTable(const SomePairs& pairs, TokenId source_vocabulary)
      : rows_(static_cast<std::size_t>(source_vocabulary) + 1) {
    std::vector<std::vector<std::int64_t>> sentences(rows_.size());
    for (std::int64_t i = 0; i < pairs.size(); ++i) {
      for (const TokenId token : pairs.source(i)) {
        auto& known = sentences[static_cast<std::size_t>(token)];
        if (known.empty() || known.back() != i) known.push_back(i);
      }
      sentences.back().push_back(i);
    }
    for (std::size_t row = 0; row < rows_.size(); ++row) add_row(pairs, sentences[row], rows_[row]);
  }

  void improve(const SomePairs& pairs) {
    for (Row& row : rows_) std::fill(row.sums.begin(), row.sums.end(), 0.0f);
    for (std::int64_t i = 0; i < pairs.size(); ++i) align(pairs.source(i), pairs.target(i));
    for (Row& row : rows_) {
      const float all = std::accumulate(row.sums.begin(), row.sums.end(), 0.0f);
      for (std::size_t n = 0; n < row.sums.size(); ++n)
        row.chances[n] = all > 0 ? row.sums[n] / all : 0;
    }
  }

  /// The likeliest targets of a source token, best first.
  std::vector<std::int64_t> best(TokenId source, std::int64_t most) const {
    const Row& row = rows_[static_cast<std::size_t>(source)];
    std::vector<std::size_t> order(row.targets.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return row.chances[a] > row.chances[b]; });
    order.resize(std::min(order.size(), static_cast<std::size_t>(most)));
    std::vector<std::int64_t> tokens;
    for (const std::size_t place : order) tokens.push_back(row.targets[place]);
    return tokens;
  }

 private:
  struct Row {
    std::vector<TokenId> targets;  // ascending
    std::vector<float> chances;
    std::vector<float> sums;  // of the pass under way
  };

  static void add_row(const SomePairs& pairs, const std::vector<std::int64_t>& sentences,
                      Row& row) {
    std::size_t sorted = 0;
    const auto tidy = [&] {
      std::sort(row.targets.begin(), row.targets.end());
      row.targets.erase(std::unique(row.targets.begin(), row.targets.end()), row.targets.end());
      sorted = row.targets.size();
    };
    for (const std::int64_t i : sentences) {
      const auto target = pairs.target(i);
      row.targets.insert(row.targets.end(), target.begin(), target.end());
      if (row.targets.size() > 2 * sorted + 4096) tidy();  // in proportion to what stays
    }
    tidy();
    row.chances.assign(row.targets.size(),
                       1 / static_cast<float>(std::max<std::size_t>(sorted, 1)));
    row.sums.assign(row.targets.size(), 0);
  }

  void align(std::span<const TokenId> source, std::span<const TokenId> target) {
    std::vector<std::pair<Row*, std::size_t>> found;  // where each source token has the target
    for (const TokenId token : target) {
      found.clear();
      float all = 0;
      const auto look_up = [&](Row& row) {
        const auto place = std::lower_bound(row.targets.begin(), row.targets.end(), token);
        found.emplace_back(&row, static_cast<std::size_t>(place - row.targets.begin()));
        all += row.chances[found.back().second];
      };
      for (const TokenId from : source) look_up(rows_[static_cast<std::size_t>(from)]);
      look_up(rows_.back());
      if (!(all > 0)) continue;
      for (const auto& [row, place] : found) row->sums[place] += row->chances[place] / all;
    }
  }

  std::vector<Row> rows_;  // by source token
};

std::vector<std::int64_t> frequent_targets(const SomePairs& pairs, TokenId vocabulary,
                                           std::int64_t most) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(vocabulary));
  for (std::int64_t i = 0; i < pairs.size(); ++i) {
    for (const TokenId token : pairs.target(i)) ++counts[static_cast<std::size_t>(token)];
  }
  std::vector<std::int64_t> order(counts.size());
  std::iota(order.begin(), order.end(), std::int64_t{0});
  const auto count = [&](std::int64_t token) { return counts[static_cast<std::size_t>(token)]; };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int64_t a, std::int64_t b) { return count(a) > count(b); });
  order.resize(std::min(order.size(), static_cast<std::size_t>(most)));
  std::erase_if(order, [&](std::int64_t token) { return count(token) == 0; });
  return order;
}

void check_tokens(std::span<const TokenId> tokens, TokenId vocabulary, const char* side) {
  for (const TokenId token : tokens) {
    if (token < 0 || token >= vocabulary)
      throw UsageError("token " + std::to_string(token) + " of a " + side + " is not one of its " +
                       std::to_string(vocabulary) + " tokens");
  }
}

}  // namespace

Shortlist Shortlist::learn(const PairStore& pairs, TokenId source_vocabulary,
                           TokenId target_vocabulary, const ShortlistOptions& options) {
  if (options.kept < 1 || options.max_pairs < 1)
    throw UsageError(
        "a shortlist must keep at least 1 token and be learnt from at least 1 pair, not " +
        std::to_string(options.kept) + " and " + std::to_string(options.max_pairs));
  const SomePairs some(pairs, options.max_pairs);
  for (std::int64_t i = 0; i < some.size(); ++i) {
    check_tokens(some.source(i), source_vocabulary, "source");
    check_tokens(some.target(i), target_vocabulary, "target");
  }
  AlignmentTable table(some, source_vocabulary);
  for (int i = 0; i < kIterations; ++i) table.improve(some);
  Parts parts{.starts = {0},
              .targets = {},
              .frequent = frequent_targets(some, target_vocabulary, kFrequent * options.kept)};
  for (TokenId token = 0; token < source_vocabulary; ++token) {
    const auto best = table.best(token, options.kept);
    parts.targets.insert(parts.targets.end(), best.begin(), best.end());
    parts.starts.push_back(std::ssize(parts.targets));
  }
  return {std::move(parts), target_vocabulary};
}

Shortlist::Shortlist(Parts parts, TokenId target_vocabulary) : parts_(std::move(parts)) {
  const auto& starts = parts_.starts;
  const bool has_rows = !starts.empty() && starts.front() == 0 &&
                        starts.back() == std::ssize(parts_.targets) &&
                        std::is_sorted(starts.begin(), starts.end());
  const auto is_token = [&](std::int64_t token) { return token >= 0 && token < target_vocabulary; };
  if (!has_rows || !std::all_of(parts_.targets.begin(), parts_.targets.end(), is_token) ||
      !std::all_of(parts_.frequent.begin(), parts_.frequent.end(), is_token)) {
    throw DataError("this is no shortlist for a vocabulary of " +
                    std::to_string(target_vocabulary) + " target tokens");
  }
}

std::vector<std::int64_t> Shortlist::tokens_for(std::span<const std::int64_t> source,
                                                std::int64_t count) const {
  std::vector<std::int64_t> tokens;
  const auto add = [&](std::span<const std::int64_t> likely, std::int64_t wanted) {
    const auto most =
        std::min(static_cast<std::size_t>(std::max<std::int64_t>(wanted, 0)), likely.size());
    tokens.insert(tokens.end(), likely.begin(), likely.begin() + static_cast<std::ptrdiff_t>(most));
  };
  add(parts_.frequent, kFrequent * count);
  for (const std::int64_t token : source) {
    if (token < 0 || token >= source_vocabulary())
      throw UsageError("the shortlist knows " + std::to_string(source_vocabulary()) +
                       " source tokens, and no token " + std::to_string(token));
    const auto row = static_cast<std::size_t>(token);
    const auto begin = static_cast<std::size_t>(parts_.starts[row]);
    add(std::span(parts_.targets)
            .subspan(begin, static_cast<std::size_t>(parts_.starts[row + 1]) - begin),
        count);
  }
  std::sort(tokens.begin(), tokens.end());
  tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
  return tokens;
}

}  // namespace pagoda
