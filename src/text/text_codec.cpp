#include <pagoda/text/text_codec.h>

#include <algorithm>

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

EncodedPairs encode_pairs(PairReader& pairs, const TextCodec& source, const TextCodec& target,
                          const EncodeOptions& options) {
  EncodedPairs encoded;
  const auto count = [&](const std::vector<TokenId>& tokens) {
    encoded.tokens += static_cast<std::int64_t>(tokens.size());
    encoded.unknown_tokens += std::count(tokens.begin(), tokens.end(), kUnknown);
  };
  while (const auto pair = pairs.next()) {
    const auto from = source.encode(pair->source);
    const auto to = target.encode(pair->target);
    if (static_cast<std::int64_t>(from.size()) > options.max_source_tokens ||
        static_cast<std::int64_t>(to.size()) > options.max_target_tokens) {
      ++encoded.too_long;
      continue;
    }
    if (from.empty() || to.empty()) {
      ++encoded.empty;
      continue;
    }
    encoded.pairs.sources.add(from);
    encoded.pairs.targets.add(to);
    count(from);
    count(to);
  }
  return encoded;
}

}  // namespace pagoda
