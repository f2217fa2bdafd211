#pragma once

#include <pagoda/text/pair_reader.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <string>

namespace pagoda {

/// How many built-in pairs there are. They are the numbers below 200,000, the days from 1800 to
/// 2099 and the times of day, spelled out in English and French, so that translation can be tried
/// without any files.
///
///     two hundred and one           deux cent un
///     Sunday the first of March nineteen eighty-one
///                                   dimanche premier mars mille neuf cent quatre-vingt-un
///     a quarter to four in the afternoon    quatre heures moins le quart de l'après-midi
///
/// No sentence occurs twice on either side. A pair is a function of its number, so it is the same
/// on every machine.
/// Threads: any.
inline constexpr std::int64_t kBuiltinPairs = 311'013;

/// A sentence in both languages.
struct BuiltinPair {
  std::string english;  ///< the source
  std::string french;   ///< its translation
};

/// Pair `number`: the numbers first, then the days, then the times.
/// Fails: UsageError unless `number` is in [0, kBuiltinPairs).
BuiltinPair builtin_pair(std::int64_t number);

/// Which pairs: every fiftieth is held out for tests.
enum class BuiltinSplit { train, test };

/// At most `max_pairs` pairs of a split, well mixed and always in the same order.
std::unique_ptr<PairReader> open_builtin_pairs(
    BuiltinSplit split, std::int64_t max_pairs = std::numeric_limits<std::int64_t>::max());

}  // namespace pagoda
