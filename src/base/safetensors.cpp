#include "base/safetensors.h"

#include <pagoda/base/error.h>
#include <pagoda/base/json.h>
#include <pagoda/base/json_value.h>
#include <pagoda/base/utf8.h>

#include <algorithm>
#include <utility>

#include "base/quoted_text.h"

namespace pagoda {
namespace {

constexpr std::size_t kLengthBytes = 8;
constexpr const char* kMetadata = "__metadata__";

struct SafetensorsType {
  const char* name;
  at::ScalarType type;
};

constexpr SafetensorsType kTypes[] = {{"F64", at::kDouble},
                                      {"F32", at::kFloat},
                                      {"F16", at::kHalf},
                                      {"BF16", at::kBFloat16},
                                      {"F8_E4M3", at::ScalarType::Float8_e4m3fn},
                                      {"F8_E5M2", at::ScalarType::Float8_e5m2},
                                      {"F8_E4M3FNUZ", at::ScalarType::Float8_e4m3fnuz},
                                      {"F8_E5M2FNUZ", at::ScalarType::Float8_e5m2fnuz},
                                      {"F8_E8M0", at::ScalarType::Float8_e8m0fnu},
                                      {"C64", at::kComplexFloat},
                                      {"I64", at::kLong},
                                      {"I32", at::kInt},
                                      {"I16", at::kShort},
                                      {"I8", at::kChar},
                                      {"U64", at::ScalarType::UInt64},
                                      {"U32", at::ScalarType::UInt32},
                                      {"U16", at::ScalarType::UInt16},
                                      {"U8", at::kByte},
                                      {"BOOL", at::kBool}};

std::string type_names() {
  std::string names;
  for (const auto& [name, type] : kTypes) names += (names.empty() ? "" : ", ") + std::string(name);
  return names;
}

class SafetensorsReader {
 public:
  SafetensorsReader(std::string_view bytes, const std::string& name) : bytes_(bytes), name_(name) {}

  Safetensors read() {
    const std::string_view header = find_header();
    data_ = bytes_.substr(kLengthBytes + header.size());
    const JsonValue value = parse_json(header, name_ + " is damaged: its header");
    Safetensors file;
    for (const auto& [entry_name, entry] : *value.as<JsonValue::Object>()) {
      if (entry_name == kMetadata) {
        file.metadata = metadata_in(entry);
      } else {
        file.tensors.push_back(tensor_in(entry_name, entry));
      }
    }
    check_filled(file.tensors);
    for (const FileTensor& tensor : file.tensors) {
      if (tensor.type == at::kBool && !are_truth_values(tensor.bytes))
        fail(tensor.name, "holds truth values other than 0 and 1");
    }
    return file;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw DataError(name_ + " is damaged, or not a safetensors file: " + what);
  }

  [[noreturn]] void fail(const std::string& tensor, const std::string& what) const {
    fail("tensor " + quoted_text(tensor) + " " + what);
  }

  std::string_view find_header() const {
    if (bytes_.starts_with("PK\x03\x04"))
      fail("it is a zip archive, as torch.save writes it; give it a name that ends in .pt");
    if (bytes_.size() < kLengthBytes)
      fail("it has " + std::to_string(bytes_.size()) + " bytes, fewer than a header's length");
    std::uint64_t length = 0;
    for (std::size_t i = kLengthBytes; i-- > 0;)
      length = length << 8 | static_cast<unsigned char>(bytes_[i]);
    if (length > kMostSafetensorsHeader) {
      fail("its header would have " + std::to_string(length) + " bytes; the format allows " +
           std::to_string(kMostSafetensorsHeader));
    }
    if (length > bytes_.size() - kLengthBytes) {
      fail("its header of " + std::to_string(length) + " bytes is cut off at " +
           std::to_string(bytes_.size() - kLengthBytes));
    }
    const std::string_view header = bytes_.substr(kLengthBytes, length);
    if (!header.starts_with('{')) fail("its header is no JSON object");
    return header;
  }

  std::map<std::string, std::string> metadata_in(const JsonValue& value) const {
    const auto* members = value.as<JsonValue::Object>();
    if (members == nullptr)
      fail(std::string(kMetadata) + " is " + value.kind() + ", not an object of texts");
    std::map<std::string, std::string> metadata;
    for (const auto& [key, entry] : *members) {
      const auto* text = entry.as<std::string>();
      if (text == nullptr) {
        fail(std::string(kMetadata) + " says " + entry.kind() + " of " + quoted_text(key) +
             "; only texts can stand there");
      }
      metadata.emplace(key, *text);
    }
    return metadata;
  }

  FileTensor tensor_in(const std::string& name, const JsonValue& entry) const {
    FileTensor tensor{.name = name};
    tensor.type = type_in(name, member(name, entry, "dtype"));
    tensor.shape = numbers_in(name, member(name, entry, "shape"), "shape");
    const auto offsets = numbers_in(name, member(name, entry, "data_offsets"), "data_offsets");
    const auto size = static_cast<std::int64_t>(data_.size());
    if (offsets.size() != 2 || offsets[0] > offsets[1] || offsets[1] > size) {
      fail(name, "has the data_offsets " + shape_text(offsets) +
                     "; they must be a beginning and an end within the " + std::to_string(size) +
                     " bytes of data");
    }
    tensor.bytes = data_.substr(static_cast<std::size_t>(offsets[0]),
                                static_cast<std::size_t>(offsets[1] - offsets[0]));
    const auto bytes = byte_count(tensor.type, tensor.shape);
    const std::string about =
        std::string(safetensors_type(tensor.type)) + " " + shape_text(tensor.shape);
    if (!bytes) fail(name, "is " + about + ", which no tensor can be");
    if (*bytes != tensor.bytes.size()) {
      fail(name, "is " + about + ", which takes " + std::to_string(*bytes) + " bytes, but has " +
                     std::to_string(tensor.bytes.size()));
    }
    return tensor;
  }

  const JsonValue& member(const std::string& name, const JsonValue& entry, const char* key) const {
    const JsonValue* found = entry.find(key);
    if (found == nullptr) {
      fail(name, entry.as<JsonValue::Object>() == nullptr
                     ? std::string("is ") + entry.kind() + " in the header, not an object"
                     : std::string("has no ") + key + " in the header");
    }
    return *found;
  }

  at::ScalarType type_in(const std::string& name, const JsonValue& value) const {
    const auto* text = value.as<std::string>();
    if (text == nullptr) fail(name, std::string("has ") + value.kind() + " as dtype, not text");
    for (const auto& [known, type] : kTypes) {
      if (*text == known) return type;
    }
    fail(name, "has the dtype " + quoted_text(*text) + "; Pagoda reads " + type_names());
  }

  std::vector<std::int64_t> numbers_in(const std::string& name, const JsonValue& value,
                                       const char* key) const {
    const auto* list = value.as<JsonValue::List>();
    if (list == nullptr) fail(name, "has " + std::string(value.kind()) + " as " + key);
    std::vector<std::int64_t> numbers;
    for (const JsonValue& item : *list) {
      const auto* number = item.as<std::int64_t>();
      if (number == nullptr || *number < 0) {
        fail(name, "has " +
                       (number != nullptr ? std::to_string(*number) : std::string(item.kind())) +
                       " in its " + key + "; these are whole numbers from 0 on");
      }
      numbers.push_back(*number);
    }
    return numbers;
  }

  /// Every byte of the data belongs to one tensor.
  void check_filled(const std::vector<FileTensor>& tensors) const {
    std::vector<const FileTensor*> order;
    for (const FileTensor& tensor : tensors) order.push_back(&tensor);
    const auto place = [](const FileTensor* tensor) {
      return std::pair(tensor->bytes.data(), tensor->bytes.size());
    };
    std::sort(order.begin(), order.end(),
              [&](const auto* a, const auto* b) { return place(a) < place(b); });
    std::size_t filled = 0;
    const FileTensor* before = nullptr;
    for (const FileTensor* tensor : order) {
      const auto begin = static_cast<std::size_t>(tensor->bytes.data() - data_.data());
      if (begin < filled) fail(tensor->name, "overlaps tensor " + quoted_text(before->name));
      if (begin > filled) fail_hole(filled, begin);
      filled = begin + tensor->bytes.size();
      before = tensor;
    }
    if (filled < data_.size()) fail_hole(filled, data_.size());
  }

  [[noreturn]] void fail_hole(std::size_t begin, std::size_t end) const {
    fail("bytes " + std::to_string(begin) + " to " + std::to_string(end) +
         " of its data belong to no tensor");
  }

  const std::string_view bytes_;
  const std::string& name_;
  std::string_view data_;  // behind the header
};

const char* writable_type(const FileTensor& tensor) {
  if (find_bad_utf8(tensor.name) || tensor.name == kMetadata) {
    throw UsageError("a safetensors file cannot hold a tensor of the name " +
                     quoted_text(tensor.name) + (tensor.name == kMetadata ? "" : ": not UTF-8") +
                     "; write a .pt file");
  }
  const char* type = safetensors_type(tensor.type);
  if (type == nullptr) {
    throw UsageError("a safetensors file cannot hold tensor " + quoted_text(tensor.name) +
                     " of type " + c10::toString(tensor.type) + "; write a .pt file");
  }
  return type;
}

std::string header_json(const std::vector<FileTensor>& tensors,
                        const std::map<std::string, std::string>& metadata) {
  JsonWriter json;
  json.begin_object();
  if (!metadata.empty()) {
    json.key(kMetadata).begin_object();
    for (const auto& [key, text] : metadata) json.key(key).value(text);
    json.end_object();
  }
  std::int64_t offset = 0;
  for (const FileTensor& tensor : tensors) {
    const char* type = writable_type(tensor);
    const auto end = offset + static_cast<std::int64_t>(*byte_count(tensor.type, tensor.shape));
    json.key(tensor.name).begin_object();
    json.key("dtype").value(type).key("shape").values(tensor.shape);
    json.key("data_offsets").values(std::vector<std::int64_t>{offset, end}).end_object();
    offset = end;
  }
  return json.end_object().text();
}

}  // namespace

Safetensors parse_safetensors(std::string_view bytes, const std::string& name) {
  return SafetensorsReader(bytes, name).read();
}

std::string safetensors_header(const std::vector<FileTensor>& tensors,
                               const std::map<std::string, std::string>& metadata) {
  std::string json = header_json(tensors, metadata);
  json.resize((json.size() + kLengthBytes - 1) / kLengthBytes * kLengthBytes, ' ');
  if (json.size() > kMostSafetensorsHeader) {
    throw UsageError("the names of " + std::to_string(tensors.size()) + " tensors need " +
                     std::to_string(json.size()) + " bytes in a safetensors file, which allows " +
                     std::to_string(kMostSafetensorsHeader) + "; write a .pt file");
  }
  std::string header(kLengthBytes, '\0');
  for (std::size_t i = 0; i < kLengthBytes; ++i)
    header[i] = static_cast<char>(std::uint64_t{json.size()} >> (8 * i) & 0xff);
  return header + json;
}

const char* safetensors_type(at::ScalarType type) {
  for (const auto& [name, known] : kTypes) {
    if (type == known) return name;
  }
  return nullptr;
}

}  // namespace pagoda
