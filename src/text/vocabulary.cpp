#include <pagoda/base/atomic_file.h>
#include <pagoda/base/error.h>
#include <pagoda/text/line_reader.h>
#include <pagoda/text/vocabulary.h>

#include <algorithm>
#include <array>
#include <utility>

namespace pagoda {
namespace {

constexpr std::array<std::string_view, kSpecialTokens> kSpecial = {"<pad>", "<unk>", "<s>", "</s>"};

}  // namespace

Vocabulary::Vocabulary(const std::vector<std::string>& tokens) {
  for (const std::string_view token : kSpecial) add(std::string(token));
  for (const auto& token : tokens) {
    if (token.empty()) throw DataError("a vocabulary cannot hold an empty token");
    if (!add(token)) throw DataError("the token \"" + token + "\" stands twice in a vocabulary");
  }
}

bool Vocabulary::add(std::string token) {
  if (!ids_.emplace(token, size()).second) return false;
  tokens_.push_back(std::move(token));
  return true;
}

Vocabulary Vocabulary::load(const std::filesystem::path& path) {
  Vocabulary vocabulary;
  LineReader lines(path);
  TokenId read = 0;
  while (auto line = lines.next()) {
    if (read < kSpecialTokens && line->text != kSpecial[static_cast<std::size_t>(read)]) {
      line->problem = "a vocabulary begins with the lines <pad>, <unk>, <s> and </s>";
    } else if (line->text.empty() && line->problem.empty()) {
      line->problem = "an empty token";
    } else if (line->text.ends_with('\r')) {
      line->problem = "the token ends in a carriage return, which would be lost in a file";
    } else if (read >= kSpecialTokens && line->problem.empty() &&
               !vocabulary.add(std::string(line->text))) {
      line->problem = "the token \"" + std::string(line->text) + "\" stands here a second time";
    }
    if (!line->problem.empty()) throw DataError(lines.place_of(*line));
    ++read;
  }
  if (read < kSpecialTokens) {
    throw DataError(path.string() + " ends after line " + std::to_string(read) +
                    "; a vocabulary begins with the lines <pad>, <unk>, <s> and </s>");
  }
  return vocabulary;
}

void Vocabulary::save(const std::filesystem::path& path) const {
  AtomicFile file(path);
  for (const auto& token : tokens_) file.write(token + "\n");
  file.commit();
}

TokenId Vocabulary::id(std::string_view token) const {
  const auto found = ids_.find(token);
  return found == ids_.end() ? kUnknown : found->second;
}

TokenId TokenCounter::add(std::string_view token) {
  auto found = entries_.find(token);
  if (found == entries_.end()) {
    found = entries_.emplace(token, Entry{static_cast<TokenId>(entries_.size()), 0}).first;
  }
  ++found->second.count;
  return found->second.number;
}

std::vector<TokenId> TokenCounter::ids_in(const Vocabulary& vocabulary) const {
  std::vector<TokenId> ids(entries_.size());
  for (const auto& [token, entry] : entries_) {
    ids[static_cast<std::size_t>(entry.number)] = vocabulary.id(token);
  }
  return ids;
}

Vocabulary TokenCounter::vocabulary(TokenId max_size, std::int64_t min_count) const {
  if (max_size < kSpecialTokens) {
    throw UsageError("a vocabulary of " + std::to_string(max_size) +
                     " tokens has no room for the special ones; it must be at least " +
                     std::to_string(kSpecialTokens));
  }
  std::vector<std::pair<std::int64_t, std::string_view>> order;  // the negative count first
  for (const auto& [token, entry] : entries_) {
    const bool special = std::find(kSpecial.begin(), kSpecial.end(), token) != kSpecial.end();
    if (entry.count >= min_count && !special) order.emplace_back(-entry.count, token);
  }
  std::sort(order.begin(), order.end());
  order.resize(std::min(order.size(), static_cast<std::size_t>(max_size - kSpecialTokens)));
  std::vector<std::string> tokens;
  for (const auto& [count, token] : order) tokens.emplace_back(token);
  return Vocabulary(tokens);
}

}  // namespace pagoda
