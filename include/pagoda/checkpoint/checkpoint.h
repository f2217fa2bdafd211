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
/// and position, so that no random state is in it.
struct Checkpoint {
  std::vector<NamedTensor> model;      ///< parameters and buffers, tied ones under all names
  std::vector<NamedTensor> average;    ///< moving average of the trainable parameters; may be empty
  std::vector<NamedTensor> optimizer;  ///< a built-in optimizer's state
  at::Tensor torch_optimizer = {};     ///< a torch::optim::Optimizer's own bytes, or undefined
  /// What exchanges between processes keep: rounding errors, an outer optimizer's momentum.
  std::vector<NamedTensor> exchange = {};

  RunState state = {};      ///< where the run stands
  std::uint64_t seed = 0;   ///< of the run
  std::int64_t towers = 0;  ///< that wrote it; another number may resume
  std::string config = {};  ///< the run's configuration as text
};

/// A checkpoint that a newer version of Pagoda wrote. It is not damaged: nobody may pass it over,
/// overwrite or remove it for that.
class NewerFormatError : public DataError {
 public:
  using DataError::DataError;
};

/// Replaces the file whole or not at all. Fails: IoError with the path and the system's reason.
void write_checkpoint(const Checkpoint& checkpoint, const std::filesystem::path& path);

/// The tensors lie in the memory that the file was read into: one of them keeps all of it alive.
/// Fails: IoError when it cannot be read; DataError that names the file and the entry when it is
/// damaged or not a checkpoint; NewerFormatError when it has a newer format than this version knows;
/// std::bad_alloc or c10::Error when there is no memory for it.
Checkpoint read_checkpoint(const std::filesystem::path& path);

/// The same, or nothing where the file is whole and holds something else, such as weights alone.
std::optional<Checkpoint> find_checkpoint(const std::filesystem::path& path);

/// The bytes of a checkpoint's file, to send it elsewhere, and the way back; `name` stands in
/// messages. Fails: as read_checkpoint.
std::string checkpoint_bytes(const Checkpoint& checkpoint);
/// The same for the bytes of a file; `name` is for messages.
Checkpoint parse_checkpoint(std::string_view bytes, const std::string& name);

}  // namespace pagoda
