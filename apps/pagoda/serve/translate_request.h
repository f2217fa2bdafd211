#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pagoda::app {

/// How a request's lines are decoded. Requests that agree in it are decoded together.
struct DecodingChoice {
  std::int64_t beam_size = 5;
  std::int64_t n_best = 1;
  bool attention = false;  ///< keep what the translations looked at

  bool operator==(const DecodingChoice&) const = default;
};

struct TranslateRequest {
  std::vector<std::string> lines = {};
  DecodingChoice decoding = {};
  bool tokens = false;  ///< whether the answer has the hypotheses' tokens
};

/// What a request may ask for.
struct RequestLimits {
  std::size_t max_sentences = 128;
  std::size_t max_sentence_bytes = 4096;
  std::int64_t max_beam_size = 16;
};

/// The most sentences of a request with attention, whose answer has a number for each token of a
/// translation with each of its source.
inline constexpr std::size_t kMostAttentionSentences = 16;

/// What the body of a request asks for: {"text": "…" or ["…"], "beam_size": 5, "n_best": 1,
/// "tokens": false, "attention": false}, all but the text optional.
///
/// Fails: DataError that says what is wrong, which value it is, and what is possible.
TranslateRequest parse_translate_request(std::string_view body, const RequestLimits& limits = {});

}  // namespace pagoda::app
