#include <pagoda/text/pair_store.h>

#include <algorithm>

namespace pagoda {
namespace {

constexpr std::size_t kChunkTokens = 1 << 18;  // one megabyte

}  // namespace

void TokenStore::add(std::span<const TokenId> tokens) {
  const std::size_t needed = tokens.size() + 1;
  if (chunks_.empty() || chunks_.back().capacity() - chunks_.back().size() < needed) {
    chunks_.emplace_back().reserve(std::max(kChunkTokens, needed));
  }
  auto& chunk = chunks_.back();
  places_.push_back(static_cast<std::uint64_t>(chunks_.size() - 1) << 32 | chunk.size());
  chunk.push_back(static_cast<TokenId>(tokens.size()));
  chunk.insert(chunk.end(), tokens.begin(), tokens.end());
}

std::span<const TokenId> TokenStore::operator[](std::int64_t number) const {
  const std::uint64_t place = places_[static_cast<std::size_t>(number)];
  const TokenId* begin = chunks_[place >> 32].data() + (place & 0xFFFFFFFFu);
  return {begin + 1, static_cast<std::size_t>(*begin)};
}

void TokenStore::renumber(std::span<const TokenId> ids) {
  for (const std::uint64_t place : places_) {
    TokenId* begin = chunks_[place >> 32].data() + (place & 0xFFFFFFFFu);
    for (TokenId* token = begin + 1; token <= begin + *begin; ++token) {
      *token = ids[static_cast<std::size_t>(*token)];
    }
  }
}

std::int64_t TokenStore::bytes() const {
  std::size_t bytes = places_.capacity() * sizeof(std::uint64_t);
  for (const auto& chunk : chunks_) bytes += chunk.capacity() * sizeof(TokenId);
  return static_cast<std::int64_t>(bytes);
}

}  // namespace pagoda
