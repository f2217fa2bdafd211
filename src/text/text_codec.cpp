#include <pagoda/text/text_codec.h>

#include <algorithm>

#include "text/line_sample.h"

namespace pagoda {
namespace {

/// The lines of one side or of both, in turn.
class SideLines {
 public:
  SideLines(PairReader& pairs, PairSide side) : pairs_(pairs), side_(side) {}

  std::optional<std::string_view> next() {
    if (target_waits_) {
      target_waits_ = false;
      return pair_->target;
    }
    pair_ = pairs_.next();
    if (!pair_) return std::nullopt;
    target_waits_ = side_ == PairSide::both;
    return side_ == PairSide::target ? pair_->target : pair_->source;
  }

 private:
  PairReader& pairs_;
  const PairSide side_;
  std::optional<TextPair> pair_;
  bool target_waits_ = false;
};

/// Adds a pair unless it is too long or empty.
void add_pair(EncodedPairs& encoded, const std::vector<TokenId>& source,
              const std::vector<TokenId>& target, const EncodeOptions& options) {
  if (static_cast<std::int64_t>(source.size()) > options.max_source_tokens ||
      static_cast<std::int64_t>(target.size()) > options.max_target_tokens) {
    ++encoded.too_long;
  } else if (source.empty() || target.empty()) {
    ++encoded.empty;
  } else {
    encoded.pairs.sources.add(source);
    encoded.pairs.targets.add(target);
    encoded.tokens += static_cast<std::int64_t>(source.size() + target.size());
  }
}

std::int64_t unknown_in(const TokenStore& store) {
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < store.size(); ++i) {
    const auto tokens = store[i];
    count += std::count(tokens.begin(), tokens.end(), kUnknown);
  }
  return count;
}

std::vector<TokenId> counted_tokens(std::string_view line, const Tokenizer& tokenizer,
                                    TokenCounter& counter) {
  std::vector<TokenId> numbers;
  for (const auto& token : tokenizer.tokens(line)) numbers.push_back(counter.add(token));
  return numbers;
}

}  // namespace

std::vector<TokenId> TextCodec::encode(std::string_view line) const {
  std::vector<TokenId> ids;
  for (const auto& token : tokenizer_->tokens(line)) ids.push_back(vocabulary_.id(token));
  return ids;
}

std::string TextCodec::decode(std::span<const TokenId> ids) const {
  std::vector<std::string> tokens;
  for (const TokenId id : ids) {
    if (id == kEnd) break;
    if (id != kPad && id != kBegin) tokens.push_back(vocabulary_.token(id));
  }
  return tokenizer_->text(tokens);
}

Vocabulary count_vocabulary(PairReader& pairs, PairSide side, const Tokenizer& tokenizer,
                            TokenId max_size, std::int64_t min_count) {
  SideLines lines(pairs, side);
  TokenCounter counter;
  while (const auto line = lines.next()) {
    for (const auto& token : tokenizer.tokens(*line)) counter.add(token);
  }
  return counter.vocabulary(max_size, min_count);
}

void train_sentencepiece(PairReader& pairs, PairSide side, const std::filesystem::path& model,
                         const SentencePieceTraining& options) {
  SideLines lines(pairs, side);
  train_sentencepiece([&] { return lines.next(); }, model, options);
}

void train_sentencepiece(PairReader& pairs, const std::filesystem::path& source_model,
                         const std::filesystem::path& target_model,
                         const SentencePieceTraining& options) {
  LineSample sources(options.max_lines);
  LineSample targets(options.max_lines);
  while (const auto pair = pairs.next()) {
    sources.add(pair->source);
    targets.add(pair->target);
  }
  train_sentencepiece(std::move(sources).lines(), source_model, options);
  train_sentencepiece(std::move(targets).lines(), target_model, options);
}

EncodedPairs encode_pairs(PairReader& pairs, const TextCodec& source, const TextCodec& target,
                          const EncodeOptions& options) {
  EncodedPairs encoded;
  while (const auto pair = pairs.next()) {
    add_pair(encoded, source.encode(pair->source), target.encode(pair->target), options);
  }
  encoded.unknown_tokens = unknown_in(encoded.pairs.sources) + unknown_in(encoded.pairs.targets);
  return encoded;
}

LearnedPairs learn_pairs(PairReader& pairs, const Tokenizer& tokenizer, Sides sides,
                         TokenId max_size, const EncodeOptions& options) {
  TokenCounter source_counter;
  TokenCounter own_target_counter;
  TokenCounter& target_counter = sides == Sides::joint ? source_counter : own_target_counter;
  LearnedPairs learned;
  EncodedPairs& encoded = learned.encoded;
  while (const auto pair = pairs.next()) {
    const auto source = counted_tokens(pair->source, tokenizer, source_counter);
    const auto target = counted_tokens(pair->target, tokenizer, target_counter);
    add_pair(encoded, source, target, options);
  }
  learned.source = source_counter.vocabulary(max_size);
  learned.target = sides == Sides::joint ? learned.source : target_counter.vocabulary(max_size);
  encoded.pairs.sources.renumber(source_counter.ids_in(learned.source));
  encoded.pairs.targets.renumber(target_counter.ids_in(learned.target));
  encoded.unknown_tokens = unknown_in(encoded.pairs.sources) + unknown_in(encoded.pairs.targets);
  return learned;
}

}  // namespace pagoda
