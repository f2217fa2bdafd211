#include <pagoda/base/error.h>
#include <pagoda/checkpoint/checkpoint.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include "base/quoted_text.h"
#include "checkpoint/checkpoint_fields.h"
#include "checkpoint/pickle_file.h"

namespace pagoda {
namespace {

constexpr std::int64_t kFormat = 1;

c10::impl::GenericDict new_dict() {
  return c10::impl::GenericDict(c10::StringType::get(), c10::AnyType::get());
}

c10::IValue stored(std::int64_t number) { return number; }
c10::IValue stored(std::uint64_t number) { return static_cast<std::int64_t>(number); }
c10::IValue stored(double number) { return number; }
c10::IValue stored(const std::string& text) { return text; }
c10::IValue stored(const std::optional<double>& number) {
  return number ? c10::IValue(*number) : c10::IValue();
}
c10::IValue stored(const at::Tensor& bytes) {
  return bytes.defined() ? c10::IValue(bytes) : c10::IValue();
}
c10::IValue stored(const std::vector<NamedTensor>& tensors) {
  auto dict = new_dict();
  for (const auto& [name, tensor] : tensors) dict.insert(name, tensor);
  return dict;
}

/// Reads one entry after another and says which one is wrong.
class Fields {
 public:
  Fields(const PickleValue& value, const std::filesystem::path& path) : path_(path) {
    const auto* dict = value.as<PickleValue::Dict>();
    if (dict == nullptr) fail("is not a checkpoint, but " + std::string(value.kind()));
    for (const auto& [name, entry] : *dict) entries_.emplace(name, &entry);
  }

  bool has(const char* name) const { return entries_.contains(name); }

  void read(const char* name, std::int64_t& number) const {
    number = get_as<std::int64_t>(name, "a whole number");
  }

  void read(const char* name, std::uint64_t& number) const {
    number = static_cast<std::uint64_t>(get_as<std::int64_t>(name, "a whole number"));
  }

  void read(const char* name, double& number) const { number = get_as<double>(name, "a number"); }

  void read(const char* name, std::optional<double>& number) const {
    number.reset();
    if (!is_none(name)) number = get_as<double>(name, "a number");
  }

  void read(const char* name, std::string& text) const { text = get_as<std::string>(name, "text"); }

  void read(const char* name, std::vector<NamedTensor>& tensors) const {
    for (const auto& [key, value] : get_as<PickleValue::Dict>(name, "a dict of tensors")) {
      const auto* tensor = value.as<at::Tensor>();
      if (tensor == nullptr) {
        fail("is not a checkpoint: entry " + quoted_text(key) + " of '" + name + "' is " +
             value.kind() + ", not a tensor");
      }
      tensors.push_back({key, *tensor});
    }
  }

  /// Undefined where there is none.
  void read(const char* name, at::Tensor& bytes) const {
    if (is_none(name)) return;
    bytes = get_as<at::Tensor>(name, "a tensor of bytes");
    if (bytes.scalar_type() != at::kByte || bytes.dim() != 1 || !bytes.is_contiguous())
      fail_field(name, "a row of bytes");
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw DataError(path_.string() + " " + what);
  }

 private:
  bool is_none(const char* name) const { return get(name).as<PickleValue::None>() != nullptr; }

  const PickleValue& get(const char* name) const {
    const auto found = entries_.find(name);
    if (found == entries_.end()) fail("is not a checkpoint: it has no '" + std::string(name) + "'");
    return *found->second;
  }

  template <class Kind>
  const Kind& get_as(const char* name, const char* expected) const {
    const auto* value = get(name).as<Kind>();
    if (value == nullptr) fail_field(name, expected);
    return *value;
  }

  [[noreturn]] void fail_field(const char* name, const char* expected) const {
    fail("is not a checkpoint: '" + std::string(name) + "' is " + get(name).kind() + ", not " +
         expected);
  }

  const std::filesystem::path& path_;
  std::map<std::string_view, const PickleValue*> entries_;
};

void check_format(std::int64_t format, const std::filesystem::path& path) {
  if (format == kFormat) return;
  const std::string what = path.string() + " has format " + std::to_string(format) +
                           ", this version of Pagoda reads format " + std::to_string(kFormat);
  if (format < kFormat) throw DataError(what + "; use another copy");
  throw NewerFormatError(what +
                         "; resume with a newer version of Pagoda, or train in another directory");
}

bool is_empty(const std::vector<NamedTensor>& tensors) { return tensors.empty(); }
bool is_empty(const std::optional<double>& number) { return !number; }
bool is_empty(std::int64_t number) { return number == 0; }
template <class Field>
bool is_empty(const Field&) {
  return false;
}

c10::impl::GenericDict dict_of(const Checkpoint& checkpoint) {
  auto dict = new_dict();
  dict.insert("format", kFormat);
  visit_fields(checkpoint, [&](const char* name, const auto& field, Absent absent) {
    if (absent == Absent::stays_out && is_empty(field)) return;
    dict.insert(name, stored(field));
  });
  return dict;
}

Checkpoint checkpoint_of(const PickleValue& value, const std::filesystem::path& path) {
  const Fields fields(value, path);
  std::int64_t format = 0;
  fields.read("format", format);
  check_format(format, path);
  Checkpoint checkpoint;
  visit_fields(checkpoint, [&](const char* name, auto& field, Absent absent) {
    if (absent == Absent::damage || fields.has(name)) fields.read(name, field);
  });
  return checkpoint;
}

}  // namespace

void write_checkpoint(const Checkpoint& checkpoint, const std::filesystem::path& path) {
  const auto dict = dict_of(checkpoint);  // held: the pickler writes other bytes for a temporary
  write_pickle(dict, path);
}

std::string checkpoint_bytes(const Checkpoint& checkpoint) {
  const auto dict = dict_of(checkpoint);
  return pickle_bytes(dict);
}

Checkpoint read_checkpoint(const std::filesystem::path& path) {
  return checkpoint_of(read_pickle(path), path);
}

std::optional<Checkpoint> find_checkpoint(const std::filesystem::path& path) {
  const PickleValue value = read_pickle(path);
  const auto* dict = value.as<PickleValue::Dict>();
  const auto is_format = [](const PickleValue::Entry& entry) {
    return entry.key == "format" && entry.value.as<std::int64_t>() != nullptr;
  };
  if (dict == nullptr || std::none_of(dict->begin(), dict->end(), is_format)) return std::nullopt;
  return checkpoint_of(value, path);
}

Checkpoint parse_checkpoint(std::string_view bytes, const std::string& name) {
  return checkpoint_of(read_pickle(bytes, name), name);
}

}  // namespace pagoda
