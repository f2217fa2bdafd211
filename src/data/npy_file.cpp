#include "data/npy_file.h"

#include <pagoda/base/error.h>

#include <charconv>
#include <cstdint>
#include <optional>

#include "base/quoted_text.h"
#include "base/zip_archive.h"

namespace pagoda {
namespace {

struct NpyType {
  std::string_view description;
  at::ScalarType type;
};

constexpr NpyType kNpyTypes[] = {{"<f8", at::kDouble},
                                 {"<f4", at::kFloat},
                                 {"<f2", at::kHalf},
                                 {"<i8", at::kLong},
                                 {"<i4", at::kInt},
                                 {"<i2", at::kShort},
                                 {"|i1", at::kChar},
                                 {"<u8", at::ScalarType::UInt64},
                                 {"<u4", at::ScalarType::UInt32},
                                 {"<u2", at::ScalarType::UInt16},
                                 {"|u1", at::kByte},
                                 {"|b1", at::kBool},
                                 {"<c8", at::kComplexFloat},
                                 {"<c16", at::kComplexDouble}};

/// What the dict at a file's beginning says.
struct NpyHeader {
  std::optional<std::string_view> description;
  std::optional<bool> fortran_order;
  std::optional<std::vector<std::int64_t>> shape;
};

/// Reads the text of that dict: names in quotation marks, and values that are text in quotation
/// marks, True, False, or a tuple of whole numbers.
class NpyHeaderReader {
 public:
  NpyHeaderReader(std::string_view text, const std::string& source)
      : text_(text), source_(source) {}

  NpyHeader read() {
    NpyHeader header;
    expect('{');
    while (!take('}')) {
      const std::string_view key = quoted();
      expect(':');
      read_value(key, header);
      if (take('}')) break;
      expect(',');
    }
    skip_blanks();
    if (at_ < text_.size()) fail();
    return header;
  }

 private:
  [[noreturn]] void fail() const {
    throw DataError(source_ + " is damaged: the header of an array, " + quoted_text(text_) +
                    ", is not what numpy writes, at byte " + std::to_string(at_));
  }

  void read_value(std::string_view key, NpyHeader& header) {
    if (key == "descr" && !header.description) {
      skip_blanks();
      if (at_ < text_.size() && text_[at_] == '[')
        throw DataError(source_ + " holds records of several fields; save each field by itself");
      header.description = quoted();
    } else if (key == "fortran_order" && !header.fortran_order) {
      header.fortran_order = truth();
    } else if (key == "shape" && !header.shape) {
      header.shape = numbers();
    } else {
      fail();
    }
  }

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }

  bool take(char wanted) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }

  void expect(char wanted) {
    if (!take(wanted)) fail();
  }

  std::string_view quoted() {
    const char mark = take('\'') ? '\'' : '"';
    if (mark == '"') expect('"');
    const std::size_t end = text_.find(mark, at_);
    if (end == std::string_view::npos) fail();
    const std::string_view inside = text_.substr(at_, end - at_);
    at_ = end + 1;
    return inside;
  }

  bool truth() {
    skip_blanks();
    for (const std::string_view word : {"False", "True"}) {
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return word == "True";
    }
    fail();
  }

  std::vector<std::int64_t> numbers() {
    std::vector<std::int64_t> numbers;
    expect('(');
    while (!take(')')) {
      skip_blanks();
      std::int64_t number = 0;
      const char* const end = text_.data() + text_.size();
      const auto [stop, error] = std::from_chars(text_.data() + at_, end, number);
      if (error != std::errc{} || number < 0) fail();
      at_ = static_cast<std::size_t>(stop - text_.data());
      numbers.push_back(number);
      if (take(')')) break;
      expect(',');
    }
    return numbers;
  }

  const std::string_view text_;
  const std::string& source_;
  std::size_t at_ = 0;
};

at::ScalarType npy_type(std::string_view description, const std::string& source) {
  for (const auto& [known, type] : kNpyTypes) {
    if (description == known) return type;
  }
  std::string what = source + " holds numbers of the type " + quoted_text(description);
  if (description.starts_with('>')) {
    throw DataError(what + ", whose bytes are in big-endian order; save " +
                    "array.astype(array.dtype.newbyteorder('<'))");
  }
  if (description == "|O") {
    throw DataError(what + ", which are pickled Python objects; save an array of numbers");
  }
  throw DataError(what + ", which is none of Pagoda's; save the array with another dtype");
}

/// The header's text; `bytes` becomes what follows it.
std::string_view take_header(std::string_view& bytes, const std::string& source) {
  constexpr std::string_view kMagic = "\x93NUMPY";
  constexpr std::size_t kVersionEnd = kMagic.size() + 2;
  const auto fail = [&](const std::string& what) {
    throw DataError(source + " is damaged, or not what numpy.save writes: " + what);
  };
  if (!bytes.starts_with(kMagic) || bytes.size() < kVersionEnd)
    fail("it does not begin with \\x93NUMPY");
  const int version = static_cast<unsigned char>(bytes[kMagic.size()]);
  if (version < 1 || version > 3) fail("it has the version " + std::to_string(version));
  const std::size_t width = version == 1 ? 2 : 4;
  if (bytes.size() < kVersionEnd + width) fail("its header is cut off");
  std::size_t length = 0;
  for (std::size_t i = width; i-- > 0;)
    length = length << 8 | static_cast<unsigned char>(bytes[kVersionEnd + i]);
  bytes.remove_prefix(kVersionEnd + width);
  if (length > bytes.size()) fail("its header is cut off");
  const std::string_view header = bytes.substr(0, length);
  bytes.remove_prefix(length);
  return header;
}

}  // namespace

FileTensor parse_npy(std::string_view bytes, const std::string& source, const std::string& name) {
  const NpyHeader header = NpyHeaderReader(take_header(bytes, source), source).read();
  if (!header.description || !header.fortran_order || !header.shape)
    throw DataError(source + " is damaged: the header lacks descr, fortran_order or shape");
  FileTensor tensor{.name = name,
                    .type = npy_type(*header.description, source),
                    .shape = *header.shape,
                    .bytes = bytes};
  const std::string about =
      std::string(c10::toString(tensor.type)) + " " + shape_text(tensor.shape);
  if (*header.fortran_order && tensor.shape.size() > 1) {
    throw DataError(source + " holds " + about +
                    " column by column; save numpy.ascontiguousarray(array)");
  }
  const auto wanted = byte_count(tensor.type, tensor.shape);
  if (!wanted || *wanted != bytes.size()) {
    throw DataError(source + " is damaged: " + about + " takes " +
                    (wanted ? std::to_string(*wanted) : "more bytes than there are numbers for") +
                    (wanted ? " bytes" : "") + ", but it has " + std::to_string(bytes.size()));
  }
  if (tensor.type == at::kBool && !are_truth_values(tensor.bytes))
    throw DataError(source + " holds truth values other than 0 and 1");
  return tensor;
}

std::vector<FileTensor> parse_npz(std::string_view bytes, const std::string& source) {
  constexpr std::string_view kEnding = ".npy";
  const ZipArchive archive(bytes, source);
  std::vector<FileTensor> tensors;
  for (const auto& record : archive.records()) {
    if (!record.name.ends_with(kEnding)) {
      throw DataError(source + " is not what numpy.savez writes: it holds " +
                      quoted_text(record.name));
    }
    const auto name = std::string(record.name.substr(0, record.name.size() - kEnding.size()));
    tensors.push_back(parse_npy(record.bytes, source + ", array " + quoted_text(name), name));
  }
  return tensors;
}

}  // namespace pagoda
