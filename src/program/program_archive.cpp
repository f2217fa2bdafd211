#include "program/program_archive.h"

#include <pagoda/base/error.h>
#include <pagoda/base/json_value.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "base/quoted_text.h"
#include "checkpoint/stored_tensors.h"
#include "program/argument_reader.h"
#include "program/graph_reader.h"
#include "program/json_members.h"
#include "program/type_codes.h"

namespace pagoda {
namespace {

constexpr std::string_view kFormatRecord = "/archive_format";
constexpr std::string_view kModels = "/models/";
constexpr std::string_view kJson = ".json";
constexpr std::int64_t kMostExpanded = std::int64_t{1} << 22;  // elements

std::int64_t fixed_size(const JsonValue& json) {
  const GraphSize size = read_size(json);
  if (!size.number) throw DataError("the size of a weight is no number");
  return *size.number;
}

std::vector<std::int64_t> fixed_sizes(const JsonValue::List& list) {
  std::vector<std::int64_t> sizes;
  for (const JsonValue& item : list) sizes.push_back(fixed_size(item));
  return sizes;
}

/// A tensor that repeats its elements is stored once: the places where it does have a stride of 0.
at::Tensor expanded_tensor(const StoredTensors::Storage& storage, StoredTensors::Shape shape) {
  const std::vector<std::int64_t> sizes = shape.sizes;
  std::int64_t elements = 1;
  for (std::size_t i = 0; i < sizes.size() && i < shape.strides.size(); ++i) {
    if (shape.strides[i] == 0 && sizes[i] > 1) shape.sizes[i] = 1;
    if (__builtin_mul_overflow(elements, std::max<std::int64_t>(sizes[i], 1), &elements))
      elements = kMostExpanded + 1;
  }
  const at::Tensor stored = StoredTensors::tensor(storage, shape);
  if (shape.sizes == sizes) return stored;
  if (elements > kMostExpanded) throw DataError("a tensor repeats its elements too often");
  return stored.expand(sizes);
}

StoredWeight read_weight(const JsonValue& entry, const std::string& folder, StoredTensors& stored,
                         const ZipArchive::Record* record) {
  if (member_as<bool>(entry, "use_pickle")) {
    throw DataError(
        "it is stored as a pickle (of a tensor subclass or a custom object), which is never "
        "opened; "
        "export the model with plain tensors");
  }
  const JsonValue& meta = member(entry, "tensor_meta");
  const at::ScalarType type = scalar_type_of(member_as<std::int64_t>(meta, "dtype"));
  if (layout_of(member_as<std::int64_t>(meta, "layout")) != at::Layout::Strided)
    throw DataError("it is sparse, and only dense tensors can be read");
  const std::string key = folder + "/" + text_member(entry, "path_name");
  StoredTensors::Shape shape{.offset = fixed_size(member(meta, "storage_offset")),
                             .sizes = fixed_sizes(list_member(meta, "sizes")),
                             .strides = fixed_sizes(list_member(meta, "strides"))};
  std::string identity = key + "@" + std::to_string(shape.offset);
  for (const auto* numbers : {&shape.sizes, &shape.strides})
    for (const std::int64_t number : *numbers) identity += "," + std::to_string(number);
  const std::size_t bytes = record != nullptr ? record->bytes.size() : 0;
  const auto elements = static_cast<std::int64_t>(bytes / c10::elementSize(type));
  return {.tensor = expanded_tensor(stored.storage(type, key, elements), std::move(shape)),
          .is_parameter = member_as<bool>(entry, "is_param"),
          .requires_grad = member_as<bool>(meta, "requires_grad"),
          .identity = std::move(identity)};
}

}  // namespace

ProgramArchive::ProgramArchive(const std::filesystem::path& file)
    : name_(file.string()), memory_(read_file_memory(file)), archive_(memory_.bytes(), name_) {
  for (const ZipArchive::Record& record : archive_.records()) {
    if (record.name.ends_with(kFormatRecord) && record.bytes == "pt2")
      folder_ = record.name.substr(0, record.name.size() - kFormatRecord.size());
  }
  if (folder_.empty() || programs().empty()) {
    throw DataError(name_ +
                    " holds no program; write it with torch.export.save, of torch 2.9.1 or later");
  }
  const ZipArchive::Record* order = archive_.find(folder_ + "/byteorder");
  if (order != nullptr && order->bytes != "little")
    throw DataError(name_ + " was written on a machine with another order of bytes");
}

template <class Read>
auto ProgramArchive::explained(Read read) const {
  try {
    return read();
  } catch (const DataError& error) {
    throw DataError(name_ + " cannot be used: " + error.what());
  }
}

std::string_view ProgramArchive::record(const std::string& name) const {
  if (const ZipArchive::Record* found = archive_.find(folder_ + "/" + name)) return found->bytes;
  throw DataError("its record " + quoted_text(name) +
                  " is missing; write it with torch.export.save, of torch 2.9.1 or later");
}

std::vector<std::string> ProgramArchive::programs() const {
  std::vector<std::string> names;
  const std::string prefix = folder_ + std::string(kModels);
  for (const ZipArchive::Record& record : archive_.records()) {
    std::string_view name = record.name;
    if (!name.starts_with(prefix) || !name.ends_with(kJson)) continue;
    name.remove_prefix(prefix.size());
    if (name.size() > kJson.size()) names.emplace_back(name.substr(0, name.size() - kJson.size()));
  }
  return names;
}

GraphProgram ProgramArchive::program(const std::string& name) const {
  return explained([&] {
    const std::string path = "models/" + name + std::string(kJson);
    return read_program(parse_json(record(path), path));
  });
}

std::map<std::string, StoredWeight> ProgramArchive::tensors(const std::string& folder,
                                                            const std::string& config) const {
  return explained([&] {
    const std::string path = "data/" + folder + "/" + config;
    const JsonValue json = parse_json(record(path), path);
    StoredTensors stored(archive_, folder_, memory_.owner);
    std::map<std::string, StoredWeight> found;
    for (const auto& [name, entry] : object_member(json, "config")) {
      try {
        const ZipArchive::Record* data =
            archive_.find(folder_ + "/data/" + folder + "/" + text_member(entry, "path_name"));
        found.emplace(name, read_weight(entry, folder, stored, data));
      } catch (const DataError& error) {
        throw DataError("tensor " + quoted_text(name) + ": " + error.what());
      }
    }
    return found;
  });
}

std::map<std::string, StoredWeight> ProgramArchive::weights(const std::string& program) const {
  return tensors("weights", program + "_weights_config.json");
}

std::map<std::string, StoredWeight> ProgramArchive::constants(const std::string& program) const {
  return tensors("constants", program + "_constants_config.json");
}

}  // namespace pagoda
