#include "fuzz/fuzz_target.h"
#include "serve/translate_request.h"

namespace pagoda::fuzz {
namespace translate_request_fuzz {

/// The body of a request to `pagoda serve`.
std::string read(std::string_view bytes) {
  const app::RequestLimits limits{
      .max_sentences = 20, .max_sentence_bytes = 40, .max_beam_size = 8};
  const app::TranslateRequest request = app::parse_translate_request(bytes, limits);
  require(request.lines.size() <= limits.max_sentences, "more sentences than a request may have");
  std::string found;
  for (const auto& line : request.lines) {
    require(line.size() <= limits.max_sentence_bytes, "a sentence is longer than it may be");
    require(line.find_first_of(std::string_view("\n\r\0", 3)) == line.npos,
            "a sentence is no line");
    found += line + "\n";
  }
  const auto& [beam_size, n_best, attention] = request.decoding;
  require(1 <= n_best && n_best <= beam_size && beam_size <= limits.max_beam_size,
          "a beam is not within its bounds");
  return found + std::to_string(beam_size) + " " + std::to_string(n_best) +
         (attention ? " attention" : "") + (request.tokens ? " tokens" : "");
}

const Registration registration{{"translate_request", &read}};

}  // namespace translate_request_fuzz
}  // namespace pagoda::fuzz
