#pragma once

#include <pagoda/base/error.h>
#include <pagoda/checkpoint/run_state.h>
#include <pagoda/params/parameter_table.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pagoda {

/// Everything that a run needs to resume as if it had not stopped. docs/formats/checkpoint.md
/// describes the file. The order of the data, dropout and distortions are functions of seed, step
/// and position, so there is no random state in it.
struct Checkpoint {
  std::vector<NamedTensor> model;  ///< parameters and buffers, tied ones under each of their names
  std::vector<NamedTensor> average;    ///< moving average of the trainable parameters; may be empty
  std::vector<NamedTensor> optimizer;  ///< state of a built-in optimizer, or your own
  at::Tensor torch_optimizer = {};  ///< state of a torch::optim::Optimizer, as bytes; or undefined
  /// What exchanges between processes keep: rounding errors, and the outer optimizer's momentum.
  std::vector<NamedTensor> exchange = {};

  RunState state = {};      ///< where the run stands
  std::uint64_t seed = 0;   ///< of the run
  std::int64_t towers = 0;  ///< number of towers that wrote it; another number may resume
  std::string config = {};  ///< the run's configuration as text
};

/// Thrown for a checkpoint that was written by a newer version of Pagoda. The checkpoint is not
/// damaged, so it must not be skipped, overwritten or removed.
class NewerFormatError : public DataError {
 public:
  using DataError::DataError;
};

/// Writes a checkpoint; the file is replaced completely or not at all.
/// Fails: IoError with the path and the system's reason.
void write_checkpoint(const Checkpoint& checkpoint, const std::filesystem::path& path);

/// Reads a checkpoint. Its tensors share the memory that the file was read into, so any one of them
/// keeps all of it alive.
/// Fails: IoError when the file cannot be read; DataError that names the file and the entry when it
/// is damaged or not a checkpoint; NewerFormatError when its format is newer than this version
/// knows; std::bad_alloc or c10::Error when memory runs out.
Checkpoint read_checkpoint(const std::filesystem::path& path);

/// The same, or nothing if the file is intact but holds something else, such as only weights.
std::optional<Checkpoint> find_checkpoint(const std::filesystem::path& path);

/// The bytes of a checkpoint's file, for sending it elsewhere.
std::string checkpoint_bytes(const Checkpoint& checkpoint);
/// The checkpoint in these bytes; `name` stands for the file in messages.
/// Fails: as read_checkpoint.
Checkpoint parse_checkpoint(std::string_view bytes, const std::string& name);

}  // namespace pagoda
