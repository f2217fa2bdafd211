#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace pagoda::app {

/// One way to do the same work, and how to try it.
struct Contender {
  std::string name;
  /// Does a little work and says how fast it was, in anything per second; more is better.
  std::function<double()> rate;
};

struct RaceOptions {
  /// How long the race may take in all.
  std::chrono::duration<double> budget = std::chrono::seconds(60);
  /// Rounds in which everybody takes part before the slower half leaves.
  int rounds_before_halving = 5;
  /// Rounds of the last two, at most; fewer where the budget ends first.
  int most_rounds = 200;
  /// The clock; another than this process's own where several decide alike, and in tests.
  std::function<std::chrono::steady_clock::time_point()> now = std::chrono::steady_clock::now;
};

/// How a contender came out.
struct Standing {
  int contender = 0;  ///< its number
  double rate = 0;    ///< median of its rounds
  double low = 0;     ///< 95 % confidence interval of that median
  double high = 0;
  double relative = 1;  ///< its rate over the winner's, from the rounds that both were in
  int rounds = 0;
};

/// Finds the fastest of several by successive halving: all run in turn, round by round, each round
/// in another order; after some rounds the slower half leaves, and the rest share what is left of
/// the budget. What is compared is a contender's rate over that of the same round's others, so a
/// machine that is slower for a while is slower for all.
///
/// Returns all contenders, the fastest first.
/// Threads: the caller's.
/// Fails: UsageError without contenders, or when the budget ends before everybody ran
/// `rounds_before_halving` times; what a contender throws reaches the caller.
///
/// Example:
///     const auto standings = race({{"one tower", one}, {"two towers", two}}, {.budget = 60s});
///     use(standings.front().contender);
std::vector<Standing> race(const std::vector<Contender>& contenders,
                           const RaceOptions& options = {});

}  // namespace pagoda::app
