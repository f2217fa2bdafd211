#include "bench/race.h"

#include <pagoda/base/error.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "bench/median.h"

namespace pagoda::app {
namespace {

/// The order statistics between which the median lies with a probability of 95 %: the number of
/// values below it is binomial with p = 1/2, here in its normal approximation.
std::pair<double, double> median_interval(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const double n = static_cast<double>(values.size());
  const double reach = 1.96 * std::sqrt(n) / 2;
  const auto low = static_cast<std::size_t>(std::max(0.0, std::floor(n / 2 - reach)));
  const auto high = static_cast<std::size_t>(std::min(n - 1, std::ceil(n / 2 + reach)));
  return {values[low], values[high]};
}

class Race {
 public:
  Race(const std::vector<Contender>& contenders, const RaceOptions& options)
      : contenders_(contenders),
        options_(options),
        end_(options.now() +
             std::chrono::duration_cast<std::chrono::steady_clock::duration>(options.budget)),
        rates_(contenders.size()),
        running_(contenders.size()) {
    std::iota(running_.begin(), running_.end(), 0);
  }

  std::vector<Standing> run() {
    bool has_time = true;
    while (has_time && running_.size() > 1) {
      has_time = run_rounds(options_.rounds_before_halving);
      if (!has_time || running_.size() <= 2) break;
      leave_slower_half();
    }
    if (has_time) run_rounds(options_.most_rounds);
    check_everybody_ran();
    leave_slower_half(0);
    return standings();
  }

 private:
  /// False when the budget ended before.
  bool run_rounds(int count) {
    for (int i = 0; i < count; ++i) {
      if (options_.now() >= end_) return false;
      run_round();
    }
    return true;
  }

  void run_round() {
    std::vector<int> order = running_;
    std::rotate(order.begin(), order.begin() + round_ % static_cast<int>(order.size()),
                order.end());
    if (round_ / static_cast<int>(order.size()) % 2 == 1) std::reverse(order.begin(), order.end());
    ++round_;
    for (const int contender : order)
      rates_of(contender).push_back(contenders_[static_cast<std::size_t>(contender)].rate());
  }

  /// Median over the rounds of the rate over the geometric mean of those who are still running,
  /// who have all been in the same rounds.
  double share(int contender) {
    std::vector<double> shares;
    for (std::size_t i = 0; i < rates_of(contender).size(); ++i) {
      double logs = 0;
      for (const int other : running_) logs += std::log(rates_of(other)[i]);
      const double mean = std::exp(logs / static_cast<double>(running_.size()));
      shares.push_back(rates_of(contender)[i] / mean);
    }
    return median(shares);
  }

  /// Those who leave are placed behind those who stay and before those who left earlier.
  void leave_slower_half() {
    leave_slower_half(std::max<std::size_t>(2, (running_.size() + 1) / 2));
  }

  void leave_slower_half(std::size_t staying) {
    std::vector<std::pair<double, int>> order;
    for (const int contender : running_) order.emplace_back(share(contender), contender);
    std::sort(order.begin(), order.end());
    for (const auto& [share, contender] : order) {
      if (running_.size() <= staying) break;
      placed_.push_back(contender);
      std::erase(running_, contender);
    }
  }

  void check_everybody_ran() const {
    for (const auto& rates : rates_) {
      if (static_cast<int>(rates.size()) >=
          std::min(options_.rounds_before_halving, options_.most_rounds))
        continue;
      char seconds[32];
      std::snprintf(seconds, sizeof seconds, "%g", options_.budget.count());
      throw UsageError("the budget of " + std::string(seconds) + " s ended after " +
                       std::to_string(rates.size()) + " rounds of " +
                       std::to_string(contenders_.size()) +
                       " contenders, too few to tell them apart; give more time");
    }
  }

  std::vector<Standing> standings() const {
    std::vector<Standing> all;
    for (auto contender = placed_.rbegin(); contender != placed_.rend(); ++contender) {
      const std::vector<double>& rates = rates_[static_cast<std::size_t>(*contender)];
      const auto [low, high] = median_interval(rates);
      all.push_back({.contender = *contender,
                     .rate = median(rates),
                     .low = low,
                     .high = high,
                     .relative = relative_to(placed_.back(), rates),
                     .rounds = static_cast<int>(rates.size())});
    }
    return all;
  }

  /// Everybody is in the first rounds; who left early has only those.
  double relative_to(int winner, const std::vector<double>& rates) const {
    const std::vector<double>& best = rates_[static_cast<std::size_t>(winner)];
    std::vector<double> ratios;
    for (std::size_t i = 0; i < rates.size(); ++i) ratios.push_back(rates[i] / best[i]);
    return median(ratios);
  }

  std::vector<double>& rates_of(int contender) {
    return rates_[static_cast<std::size_t>(contender)];
  }

  const std::vector<Contender>& contenders_;
  const RaceOptions& options_;
  const std::chrono::steady_clock::time_point end_;
  std::vector<std::vector<double>> rates_;  // of each contender, round by round
  std::vector<int> running_;                // numbers of those still in the race
  std::vector<int> placed_;                 // numbers of those who left, the slowest first
  int round_ = 0;
};

}  // namespace

std::vector<Standing> race(const std::vector<Contender>& contenders, const RaceOptions& options) {
  if (contenders.empty()) throw UsageError("a race needs at least one contender");
  return Race(contenders, options).run();
}

}  // namespace pagoda::app
