#pragma once

#include <pagoda/text/sentencepiece_training.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/random_streams.h"

namespace pagoda {

/// At most `count` of the lines that were added, each with the same chance (reservoir sampling with
/// a fixed seed).
class LineSample {
 public:
  explicit LineSample(std::int64_t count) : count_(static_cast<std::uint64_t>(count)) {}

  void add(std::string_view line) {
    ++seen_;
    if (seen_ <= count_) {
      lines_.emplace_back(line);
    } else if (const std::uint64_t place = random_.below(seen_); place < lines_.size()) {
      lines_[place] = line;
    }
  }

  std::vector<std::string> lines() && { return std::move(lines_); }

 private:
  const std::uint64_t count_;
  std::uint64_t seen_ = 0;
  SplitMix64 random_{1};
  std::vector<std::string> lines_;
};

/// Learns from these lines; see the public function of this name.
void train_sentencepiece(std::vector<std::string> lines, const std::filesystem::path& model,
                         const SentencePieceTraining& options);

}  // namespace pagoda
