#include <pagoda/base/error.h>
#include <pagoda/text/token_file.h>

#include <zlib.h>

#include "fuzz/fuzz_target.h"

namespace pagoda::fuzz {
namespace token_file_fuzz {

void add_pairs(const PairStore& pairs, std::string& text) {
  require(pairs.sources.size() == pairs.targets.size(), "a source without its target");
  for (const TokenStore* store : {&pairs.sources, &pairs.targets}) {
    for (std::int64_t i = 0; i < store->size(); ++i) {
      for (const TokenId token : (*store)[i]) text += std::to_string(token) + " ";
      text += "\n";
    }
  }
}

std::string text_of(const EncodedText& encoded) {
  require(encoded.sources.size() == encoded.references.size(), "a line without its reference");
  std::string text = encoded.inputs + "\n";
  for (const auto* texts : {&encoded.notes, &encoded.sources, &encoded.references}) {
    for (const auto& one : *texts) text += one + "\n";
    text += "\n";
  }
  add_pairs(encoded.train, text);
  add_pairs(encoded.valid, text);
  return text;
}

std::string read_file(std::string_view bytes) {
  const EncodedText encoded = read_token_file(input_file(bytes));
  const auto copy = input_file("", "copy");
  write_token_file(copy, encoded);
  const std::string text = text_of(encoded);
  require(text_of(read_token_file(copy)) == text, "a token file is another one when written");
  return text;
}

/// What a crafted file has, and a mutation hardly ever: the checksum of what it says.
void read_with_checksum(std::string bytes) {
  auto sum = static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
  bytes.append(reinterpret_cast<const char*>(&sum), sizeof sum);
  try {
    read_file(bytes);
  } catch (const Error&) {
    // refused for something else
  }
}

std::string read(std::string_view bytes) {
  constexpr std::size_t kChecksumBytes = 4;
  if (bytes.size() > kChecksumBytes)
    read_with_checksum(std::string(bytes.substr(0, bytes.size() - kChecksumBytes)));
  return read_file(bytes);
}

const Registration registration{{"token_file", &read, true}};

}  // namespace token_file_fuzz
}  // namespace pagoda::fuzz
