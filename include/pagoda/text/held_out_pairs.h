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
  std::string source;  ///< what is translated
  std::string target;  ///< what it should become
};

/// Pairs that are in memory, as a reader.
std::unique_ptr<PairReader> read_pairs(std::vector<PairText> pairs);

/// How many of so many pairs are held out for tests: a twentieth, at most 1,000.
std::int64_t held_out_count(std::int64_t pairs);

/// All pairs of another reader but the last `held_out_count`, in one pass: the last 1,000 wait in
/// memory until the end shows which of them are held out.
///
/// Threads, fails: as the other reader. Owns: the other reader.
/// Example:
///     HeldOutPairs pairs(open_pairs(files));
///     while (auto pair = pairs.next()) train_on(*pair);
///     auto tests = read_pairs(pairs.take_held_out());
class HeldOutPairs : public PairReader {
 public:
  /// Gives at most `max_pairs`; the other reader is read to its end all the same. What was left
  /// out is in the report when `next` has given nothing.
  explicit HeldOutPairs(std::unique_ptr<PairReader> pairs,
                        std::int64_t max_pairs = std::numeric_limits<std::int64_t>::max());

  std::optional<TextPair> next() override;
  std::int64_t bytes_read() const override { return pairs_->bytes_read(); }
  std::vector<DataInput> inputs() const override { return pairs_->inputs(); }

  /// The pairs that were held out, once `next` has given nothing.
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
