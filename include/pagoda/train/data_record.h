#pragma once

#include <pagoda/data/data_input.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace pagoda {

/// What a run is trained on, so that it is not resumed with different data. Kept in the run's
/// directory as `data.toml` (docs/formats/data.md).
struct DataRecord {
  std::vector<DataInput> inputs = {};               ///< in the order in which they are used
  std::map<std::string, std::int64_t> counts = {};  ///< by name, such as "train-samples"

  /// Appends what was read, under this role.
  void add(const std::string& role, std::vector<DataInput> more);

  /// The inputs of one role, in order.
  std::vector<DataInput> of_role(const std::string& role) const;
};

/// The file in which a run keeps its record.
std::filesystem::path data_record_file(const std::filesystem::path& run);

/// Replaces a run's record. Fails: IoError.
void write_data_record(const std::filesystem::path& run, const DataRecord& record);

/// A run's record; nothing if it has none, because it was started before records existed.
/// Fails: IoError; DataError when the file is damaged or has a format that this version does not
/// read.
std::optional<DataRecord> read_data_record(const std::filesystem::path& run);

/// What differs, as "FILE (ROLE): before; now after; …", or empty. Inputs are compared by role,
/// position within the role, size and checksum, not by path; counts by name. Only the first few
/// differences are listed.
std::string data_differences(const DataRecord& before, const DataRecord& now);

}  // namespace pagoda
