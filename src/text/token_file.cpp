#include <pagoda/base/atomic_file.h>
#include <pagoda/base/error.h>
#include <pagoda/text/token_file.h>

#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string_view>

#include <zlib.h>

namespace pagoda {
namespace {

static_assert(std::endian::native == std::endian::little, "the format's numbers are little-endian");

constexpr std::string_view kMagic = "PAGODATK";
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kBlockBytes = 1 << 20;

/// Writes through a buffer and sums up as it does.
class TokenWriter {
 public:
  explicit TokenWriter(const std::filesystem::path& path) : file_(path) {
    buffer_.reserve(kBlockBytes);
  }

  void bytes(const void* data, std::size_t count) {
    if (buffer_.size() + count > kBlockBytes) flush();
    if (count > kBlockBytes) return put(data, count);
    buffer_.append(static_cast<const char*>(data), count);
  }

  template <class Number>
  void number(Number value) {
    bytes(&value, sizeof value);
  }

  void text(std::string_view text) {
    number<std::uint64_t>(text.size());
    bytes(text.data(), text.size());
  }

  void texts(const std::vector<std::string>& texts) {
    number<std::uint64_t>(texts.size());
    for (const auto& one : texts) text(one);
  }

  void store(const TokenStore& store) {
    number<std::uint64_t>(static_cast<std::uint64_t>(store.size()));
    for (std::int64_t i = 0; i < store.size(); ++i) {
      const auto tokens = store[i];
      number(static_cast<std::uint32_t>(tokens.size()));
      bytes(tokens.data(), tokens.size_bytes());
    }
  }

  void commit() {
    flush();
    const std::uint32_t sum = sum_;
    file_.write(&sum, sizeof sum);
    file_.commit();
  }

 private:
  void put(const void* data, std::size_t count) {
    sum_ = static_cast<std::uint32_t>(crc32_z(sum_, static_cast<const Bytef*>(data), count));
    file_.write(data, count);
  }

  void flush() {
    put(buffer_.data(), buffer_.size());
    buffer_.clear();
  }

  AtomicFile file_;
  std::string buffer_;
  std::uint32_t sum_ = 0;
};

/// Reads through a buffer and sums up. What it gives is only to be trusted after `check_end`.
class TokenReader {
 public:
  explicit TokenReader(const std::filesystem::path& path) : path_(path), buffer_(kBlockBytes) {
    // Before it is opened: afterwards it keeps the buffer it has.
    file_.rdbuf()->pubsetbuf(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    file_.open(path, std::ios::binary);
    std::error_code error;
    rest_ = std::filesystem::file_size(path, error);
    if (!file_ || error) {
      throw IoError("cannot read " + path.string() + ": " + std::strerror(errno));
    }
  }

  void bytes(void* data, std::size_t count) {
    if (count == 0) return;  // zlib would begin its sum anew for no data
    if (count > rest_) fail("it is cut");
    file_.read(static_cast<char*>(data), static_cast<std::streamsize>(count));
    if (!file_) throw IoError("cannot read " + path_.string() + " to its end");
    rest_ -= count;
    sum_ = static_cast<std::uint32_t>(crc32_z(sum_, static_cast<Bytef*>(data), count));
  }

  template <class Number>
  Number number() {
    Number value{};
    bytes(&value, sizeof value);
    return value;
  }

  /// A number of things that take at least so many bytes each: bounded by what the file can hold.
  std::size_t count(std::size_t bytes_each) {
    const auto count = number<std::uint64_t>();
    if (count > rest_ / bytes_each) fail("a count in it is too large");
    return static_cast<std::size_t>(count);
  }

  std::string text() {
    std::string text(count(1), '\0');
    bytes(text.data(), text.size());
    return text;
  }

  std::vector<std::string> texts() {
    std::vector<std::string> texts(count(sizeof(std::uint64_t)));
    for (auto& one : texts) one = text();
    return texts;
  }

  TokenStore store() {
    TokenStore store;
    std::vector<TokenId> tokens;
    for (std::size_t left = count(sizeof(std::uint32_t)); left > 0; --left) {
      const auto length = number<std::uint32_t>();
      if (length > rest_ / sizeof(TokenId)) fail("a length in it is too large");
      tokens.resize(length);
      bytes(tokens.data(), length * sizeof(TokenId));
      store.add(tokens);
    }
    return store;
  }

  void check_start() {
    char magic[kMagic.size()];
    bytes(magic, sizeof magic);
    if (std::string_view(magic, sizeof magic) != kMagic) fail("it does not begin as a token file");
    if (const auto version = number<std::uint32_t>(); version != kVersion) {
      throw DataError(path_.string() + " has version " + std::to_string(version) +
                      " of the token file's format; this program reads version " +
                      std::to_string(kVersion));
    }
  }

  /// What belongs together line by line, or pair by pair.
  void check_sides(std::size_t sources, std::size_t targets) const {
    if (sources != targets) {
      fail("it has " + std::to_string(sources) + " sources and " + std::to_string(targets) +
           " targets");
    }
  }

  void check_end() {
    const std::uint32_t computed = sum_;
    if (number<std::uint32_t>() != computed) fail("its checksum is wrong");
    if (rest_ != 0) fail("it goes on after its end");
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw DataError(path_.string() + " is damaged: " + why);
  }

  const std::filesystem::path path_;
  std::vector<char> buffer_;
  std::ifstream file_;  // reads through buffer_
  std::uintmax_t rest_ = 0;
  std::uint32_t sum_ = 0;
};

}  // namespace

void write_token_file(const std::filesystem::path& path, const EncodedText& text) {
  TokenWriter file(path);
  file.bytes(kMagic.data(), kMagic.size());
  file.number(kVersion);
  file.text(text.inputs);
  file.texts(text.notes);
  file.texts(text.sources);
  file.texts(text.references);
  for (const PairStore* pairs : {&text.train, &text.valid}) {
    file.store(pairs->sources);
    file.store(pairs->targets);
  }
  file.commit();
}

EncodedText read_token_file(const std::filesystem::path& path) {
  TokenReader file(path);
  file.check_start();
  EncodedText text;
  text.inputs = file.text();
  text.notes = file.texts();
  text.sources = file.texts();
  text.references = file.texts();
  file.check_sides(text.sources.size(), text.references.size());
  for (PairStore* pairs : {&text.train, &text.valid}) {
    pairs->sources = file.store();
    pairs->targets = file.store();
    file.check_sides(static_cast<std::size_t>(pairs->sources.size()),
                     static_cast<std::size_t>(pairs->targets.size()));
  }
  file.check_end();
  return text;
}

}  // namespace pagoda
