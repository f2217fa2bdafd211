#pragma once

// Reads event files back, down to the protobuf fields.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <protozero/pbf_reader.hpp>

#include "events/crc32c.h"
#include "support/scratch_directory.h"

namespace pagoda::testing {

inline std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    value = value << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return value;
}

/// The records of a file's bytes; throws at a record that is cut or damaged.
inline std::vector<std::string> records_of(std::string_view bytes) {
  const auto take = [&](std::size_t count) {
    if (bytes.size() < count) throw std::runtime_error("cut record");
    const std::string_view taken = bytes.substr(0, count);
    bytes.remove_prefix(count);
    return taken;
  };
  const auto take_checked = [&](std::size_t count) {
    const std::string_view taken = take(count);
    if (little_endian(take(4)) != masked_crc32c(taken)) throw std::runtime_error("damaged record");
    return taken;
  };
  std::vector<std::string> records;
  while (!bytes.empty()) records.emplace_back(take_checked(little_endian(take_checked(8))));
  return records;
}

inline std::vector<std::string> read_records(const std::filesystem::path& path) {
  return records_of(read_file(path));
}

/// What `read(message)` makes of each occurrence of a field.
template <class Read>
auto fields_at(protozero::pbf_reader message, protozero::pbf_tag_type field, Read read) {
  std::vector<decltype(read(message))> found;
  while (message.next()) {
    if (message.tag() == field) {
      found.push_back(read(message));
    } else {
      message.skip();
    }
  }
  return found;
}

/// The message at `field`; throws unless there is exactly one.
inline protozero::pbf_reader message_at(const protozero::pbf_reader& message,
                                        protozero::pbf_tag_type field) {
  const auto found =
      fields_at(message, field, [](protozero::pbf_reader& at) { return at.get_message(); });
  if (found.size() != 1) throw std::runtime_error("not one field " + std::to_string(field));
  return found[0];
}

inline std::vector<std::string> texts_at(const protozero::pbf_reader& message,
                                         protozero::pbf_tag_type field) {
  return fields_at(message, field, [](protozero::pbf_reader& at) { return at.get_string(); });
}

inline std::vector<double> doubles_at(const protozero::pbf_reader& message,
                                      protozero::pbf_tag_type field) {
  return fields_at(message, field, [](protozero::pbf_reader& at) { return at.get_double(); });
}

inline std::vector<std::int64_t> integers_at(const protozero::pbf_reader& message,
                                             protozero::pbf_tag_type field) {
  return fields_at(message, field, [](protozero::pbf_reader& at) { return at.get_int64(); });
}

}  // namespace pagoda::testing
