#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "base/zip_archive.h"
#include "checkpoint/file_memory.h"
#include "program/graph.h"

namespace pagoda {

/// A tensor of a `.pt2` file.
struct StoredWeight {
  at::Tensor tensor;  ///< over the file's memory
  bool is_parameter;
  bool requires_grad;
  /// Equal for names that stand for the same tensor.
  std::string identity;
};

/// A file of `torch.export.save`: one program or several, with their weights. Everything that it says
/// is checked; records that are pickles (the sample inputs) are never opened.
///
/// Threads: any; it does not change. Owns: the file's bytes, which the tensors keep alive.
/// Fails: IoError when the file cannot be read; DataError that names it and says what is wrong.
class ProgramArchive {
 public:
  explicit ProgramArchive(const std::filesystem::path& file);

  /// The names of its programs, sorted. `torch.export.save` calls its only one "model".
  std::vector<std::string> programs() const;

  GraphProgram program(const std::string& name) const;

  /// By their names in the state dict.
  std::map<std::string, StoredWeight> weights(const std::string& program) const;

  /// Tensors that are no part of the state dict.
  std::map<std::string, StoredWeight> constants(const std::string& program) const;

 private:
  std::string_view record(const std::string& name) const;
  std::map<std::string, StoredWeight> tensors(const std::string& folder,
                                              const std::string& config) const;
  template <class Read>
  auto explained(Read read) const;

  const std::string name_;
  const FileMemory memory_;
  const ZipArchive archive_;
  std::string folder_;  // in which all records lie
};

}  // namespace pagoda
