#include "serve/translate_request.h"

#include <pagoda/base/error.h>
#include <pagoda/base/json_value.h>

#include <algorithm>
#include <array>

namespace pagoda::app {
namespace {

constexpr std::array<std::string_view, 5> kMembers = {"text", "beam_size", "n_best", "tokens",
                                                      "attention"};
constexpr std::size_t kShownBytes = 40;  // of a name that is not known

void expect_known_members(const JsonValue::Object& object) {
  for (const auto& [name, value] : object) {
    if (std::find(kMembers.begin(), kMembers.end(), name) != kMembers.end()) continue;
    const bool fits = name.size() <= kShownBytes;
    throw DataError((fits ? "\"" + name + "\" is no member" : "there is a member of unknown name") +
                    " of a request; known are text, beam_size, n_best, tokens and attention");
  }
}

/// The number of this name from 1 to `most`.
std::int64_t count_of(const JsonValue& request, const char* name, std::int64_t otherwise,
                      std::int64_t most, const std::string& advice) {
  const JsonValue* value = request.find(name);
  if (value == nullptr) return otherwise;
  const auto* number = value->as<std::int64_t>();
  if (number == nullptr)
    throw DataError(std::string(name) + " is " + value->kind() + "; give a whole number");
  if (*number < 1 || *number > most) {
    throw DataError(std::string(name) + " is " + std::to_string(*number) +
                    "; it can be from 1 to " + std::to_string(most) + advice);
  }
  return *number;
}

bool truth_of(const JsonValue& request, const char* name) {
  const JsonValue* value = request.find(name);
  if (value == nullptr) return false;
  if (const bool* truth = value->as<bool>()) return *truth;
  throw DataError(std::string(name) + " is " + value->kind() + "; give true or false");
}

/// `place` says which of the request's texts it is.
void expect_line(const std::string& line, const std::string& place, const RequestLimits& limits) {
  if (line.size() > limits.max_sentence_bytes) {
    throw DataError(place + " has " + std::to_string(line.size()) + " bytes, of at most " +
                    std::to_string(limits.max_sentence_bytes) +
                    " (--max-sentence); give each sentence by itself");
  }
  if (const auto end = line.find_first_of("\n\r"); end != std::string::npos) {
    throw DataError(place + " has a line's end at byte " + std::to_string(end + 1) +
                    "; give each line by itself, as a list");
  }
  if (const auto nul = line.find('\0'); nul != std::string::npos) {
    throw DataError(place + " has a NUL at byte " + std::to_string(nul + 1) +
                    ", which text does not contain");
  }
}

std::vector<std::string> lines_of(const JsonValue& request, const RequestLimits& limits) {
  const JsonValue* text = request.find("text");
  if (text == nullptr) throw DataError("there is no text; give {\"text\": [\"a sentence\", …]}");
  if (const auto* one = text->as<std::string>()) {
    expect_line(*one, "text", limits);
    return {*one};
  }
  const auto* list = text->as<JsonValue::List>();
  if (list == nullptr)
    throw DataError(std::string("text is ") + text->kind() + "; give text or a list of texts");
  if (list->size() > limits.max_sentences) {
    throw DataError("text has " + std::to_string(list->size()) + " sentences, of at most " +
                    std::to_string(limits.max_sentences) +
                    " (--max-sentences); divide them among several requests");
  }
  std::vector<std::string> lines;
  for (const JsonValue& item : *list) {
    const std::string place = "text[" + std::to_string(lines.size()) + "]";
    const auto* line = item.as<std::string>();
    if (line == nullptr) throw DataError(place + " is " + item.kind() + "; give text");
    expect_line(*line, place, limits);
    lines.push_back(*line);
  }
  return lines;
}

}  // namespace

TranslateRequest parse_translate_request(std::string_view body, const RequestLimits& limits) {
  const JsonValue json = parse_json(body, "the request");
  const auto* object = json.as<JsonValue::Object>();
  if (object == nullptr) {
    throw DataError(std::string("the request is ") + json.kind() +
                    "; give an object such as {\"text\": [\"a sentence\"]}");
  }
  expect_known_members(*object);
  TranslateRequest request{.lines = lines_of(json, limits)};
  DecodingChoice& decoding = request.decoding;
  decoding.beam_size =
      count_of(json, "beam_size", std::min(decoding.beam_size, limits.max_beam_size),
               limits.max_beam_size, " (--max-beam-size)");
  decoding.n_best = count_of(json, "n_best", 1, decoding.beam_size, ", the beam_size");
  decoding.attention = truth_of(json, "attention");
  request.tokens = truth_of(json, "tokens");
  if (decoding.attention && request.lines.size() > kMostAttentionSentences) {
    throw DataError("text has " + std::to_string(request.lines.size()) +
                    " sentences; with attention it can have " +
                    std::to_string(kMostAttentionSentences));
  }
  return request;
}

}  // namespace pagoda::app
