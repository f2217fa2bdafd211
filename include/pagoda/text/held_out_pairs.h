#pragma once

#include <pagoda/text/pair_reader.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pagoda {

/// A pair that owns its text.
struct PairText {
  std::string source;  ///< the text to translate
  std::string target;  ///< its translation
};

/// A reader of pairs in memory; it leaves none out.
std::unique_ptr<PairReader> read_pairs(std::vector<PairText> pairs);

/// How many of `pairs` pairs are held out for tests: a twentieth, at most 1,000.
std::int64_t held_out_count(std::int64_t pairs);

/// All pairs of another reader except the last `held_out_count`, in one pass: the 1,000 pairs read
/// last stay in memory until the end of the data shows how many of them are held out.
///
/// Threads, fails: as the other reader. Owns: the other reader.
/// Example:
///     HeldOutPairs pairs(open_pairs(files));
///     while (auto pair = pairs.next()) train_on(*pair);
///     auto tests = read_pairs(pairs.take_held_out());
class HeldOutPairs : public PairReader {
 public:
  /// Returns at most `max_pairs` pairs, but reads the other reader to its end all the same. What
  /// that reader left out is in the report once `next` has returned nothing.
  explicit HeldOutPairs(std::unique_ptr<PairReader> pairs,
                        std::int64_t max_pairs = std::numeric_limits<std::int64_t>::max());

  std::optional<TextPair> next() override;
  std::int64_t bytes_read() const override { return pairs_->bytes_read(); }
  std::vector<DataInput> inputs() const override { return pairs_->inputs(); }

  /// The pairs held out; call it once, after `next` has returned nothing.
  std::vector<PairText> take_held_out();

 private:
  std::optional<TextPair> given();
  void end();

  const std::unique_ptr<PairReader> pairs_;
  const std::int64_t max_pairs_;
  std::vector<PairText> last_;  // pair i lies at i modulo its size
  PairText current_;
  std::int64_t read_ = 0;
  std::int64_t passed_ = 0;  // pairs that have left `last_`
  bool ended_ = false;
};

}  // namespace pagoda
