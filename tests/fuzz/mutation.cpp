#include "fuzz/mutation.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace pagoda::fuzz {
namespace {

/// A piece of a text, possibly empty: rather a short one.
struct Piece {
  std::size_t at;
  std::size_t length;
};

Piece piece_of(const std::string& bytes, SplitMix64& random) {
  const std::size_t at = random.below(bytes.size() + 1);
  const std::size_t longest = std::min(bytes.size() - at, std::size_t{1} << random.below(12));
  return {at, random.below(longest + 1)};
}

std::string cut_out(const std::string& bytes, SplitMix64& random) {
  const auto [at, length] = piece_of(bytes, random);
  return bytes.substr(at, length);
}

void put_in(std::string& bytes, const std::string& what, SplitMix64& random) {
  bytes.insert(random.below(bytes.size() + 1), what);
}

void put_over(std::string& bytes, std::string_view what, SplitMix64& random) {
  const std::size_t at = random.below(bytes.size() + 1);
  bytes.replace(at, what.size(), what);
}

/// A number that readers of lengths and offsets trip over, in one to eight bytes.
std::string extreme(SplitMix64& random) {
  constexpr std::uint64_t kNumbers[] = {0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF,
                                        0x80000000, 0xFFFFFFFF, ~std::uint64_t{0} >> 1,
                                        ~std::uint64_t{0}, ~std::uint64_t{7}};
  const std::uint64_t number = kNumbers[random.below(std::size(kNumbers))];
  const int width = 1 << random.below(4);
  std::string bytes;
  for (int i = 0; i < width; ++i) bytes += static_cast<char>(number >> (8 * i) & 0xFF);
  return bytes;
}

void change(std::string& bytes, const std::string& other, SplitMix64& random) {
  switch (random.below(9)) {
    case 0:
      if (!bytes.empty())
        bytes[random.below(bytes.size())] ^= static_cast<char>(1u << random.below(8));
      break;
    case 1:
      put_over(bytes, std::string(1, static_cast<char>(random.below(256))), random);
      break;
    case 2: {
      const auto [at, length] = piece_of(bytes, random);
      bytes.erase(at, length);
      break;
    }
    case 3:
      put_in(bytes, cut_out(bytes, random), random);
      break;
    case 4:
      put_over(bytes, cut_out(bytes, random), random);
      break;
    case 5: {
      const auto [at, length] = piece_of(bytes, random);
      std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), length, '\0');
      break;
    }
    case 6:
      bytes.resize(random.below(bytes.size() + 1));
      break;
    case 7:
      put_over(bytes, extreme(random), random);
      break;
    default:
      put_in(bytes, cut_out(other, random), random);
  }
}

}  // namespace

std::string mutated(std::string bytes, const std::string& other, SplitMix64& random) {
  for (std::uint64_t left = 1 + random.below(4); left > 0; --left) change(bytes, other, random);
  return bytes;
}

}  // namespace pagoda::fuzz
