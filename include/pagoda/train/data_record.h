#pragma once

#include <pagoda/data/data_input.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace pagoda {

/// What a run is trained on, so that it is not resumed with something else. Kept in the run's
/// directory as `data.toml` (docs/formats/data.md).
struct DataRecord {
  std::vector<DataInput> inputs = {};               ///< in the order in which they are used
  std::map<std::string, std::int64_t> counts = {};  ///< such as "train-samples"

  /// Adds what was read for a role, behind what there is.
  void add(const std::string& role, std::vector<DataInput> more);

  /// The inputs of one role, in their order.
  std::vector<DataInput> of_role(const std::string& role) const;
};

/// Where a run keeps its record.
std::filesystem::path data_record_file(const std::filesystem::path& run);

/// Replaces the record of a run. Fails: IoError.
void write_data_record(const std::filesystem::path& run, const DataRecord& record);

/// The record of a run; nothing if it has none, such as one of before there were records.
/// Fails: IoError; DataError when the file is damaged or of a later format.
std::optional<DataRecord> read_data_record(const std::filesystem::path& run);

/// What differs, as "FILE: what it was; now what it is; …", or empty. Inputs are compared by role
/// and place in the order, contents and numbers; where a file lies does not matter. A long list is
/// cut.
std::string data_differences(const DataRecord& before, const DataRecord& now);

}  // namespace pagoda
