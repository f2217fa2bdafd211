#include <pagoda/train/data_record.h>

#include "fuzz/fuzz_target.h"

namespace pagoda::fuzz {
namespace data_record_fuzz {

/// data.toml of a run.
std::string read(std::string_view bytes) {
  const auto run = input_file(bytes, "data.toml").parent_path();
  const auto record = read_data_record(run);
  require(record.has_value(), "a record that is there is not found");
  std::string text;
  for (const DataInput& input : record->inputs)
    text += input.role + " " + input.name + " " + input.content_text() + "\n";
  for (const auto& [name, count] : record->counts) text += name + std::to_string(count) + "\n";
  write_data_record(run, *record);
  require(data_differences(*record, *read_data_record(run)).empty(),
          "a record is another one when written");
  return text;
}

const Registration registration{{"data_record", &read}};

}  // namespace data_record_fuzz
}  // namespace pagoda::fuzz
