#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

namespace pagoda {

struct LoadedProgram;

/// How a program is loaded.
struct ProgramOptions {
  /// Namespaces of operators that it may call besides LibTorch's own: those that
  /// load_operator_library returned, or that your application registers. All others are refused,
  /// even if they are registered.
  std::vector<std::string> operator_namespaces = {};
  /// Modules before whose first operator the program is cut into layers, for a pipeline; in the
  /// order in which they run. Empty: one layer.
  std::vector<std::string> cut_before = {};
};

/// A model written in Python, as `torch.export.save` stored it in a `.pt2` file: its graph and its
/// weights, checked and ready to run. ExportedModel makes trainable copies of it.
///
/// The program must be what `torch.export.export` of torch 2.9.1 or later returned for the model in
/// training mode. A file may hold a second program for evaluation, named "evaluate", next to the
/// one for training, named "train" (`torch.export.pt2_archive._package.package_pt2`).
///
/// The file may come from anywhere: every offset, size and checksum in it is checked, and pickles
/// in it are never opened. Only LibTorch's operators, except those that access files or the
/// terminal, and those of the namespaces given in the options can be called. A crafted program can
/// still call LibTorch's operators with arguments that nobody has tried before.
///
/// Threads: any; it does not change. Owns: its weights, in the memory the file was read into.
/// Fails: IoError when the file cannot be read; DataError that names the file when it is damaged or
/// of another format; UsageError that lists everything in it that cannot be run, by operator and
/// module, and when none of several programs is named "train", or `cut_before` does not fit the
/// program.
///
/// Example: `const ExportedProgram program("model.pt2");`
class ExportedProgram {
 public:
  explicit ExportedProgram(const std::filesystem::path& file, const ProgramOptions& options = {});

  /// The names of forward's inputs, in order.
  std::vector<std::string> input_names() const;

  /// For each input, the sizes that it must have, with -1 where a size may vary; empty for an input
  /// that is a number.
  std::vector<std::vector<std::int64_t>> input_sizes() const;

  /// The names of forward's results: the keys if it returns a dict, otherwise the names of the
  /// values in the graph.
  std::vector<std::string> output_names() const;

  /// Checks inputs for ExportedModel's forward.
  /// Fails: UsageError that names the input that does not fit.
  void check_inputs(const std::vector<at::Tensor>& inputs) const;

  /// Why the program cannot be evaluated; empty if it can.
  std::string no_evaluation() const;

  /// The program as loaded; for ExportedModel.
  const LoadedProgram& loaded() const { return *loaded_; }

 private:
  std::shared_ptr<const LoadedProgram> loaded_;
};

/// Loads a shared library that registers operators (with TORCH_LIBRARY), and returns the namespaces
/// of the new operators, for ProgramOptions. The library stays loaded.
/// Fails: UsageError when it cannot be loaded (with the loader's reason) or registers no new
/// operator.
std::vector<std::string> load_operator_library(const std::filesystem::path& file);

}  // namespace pagoda
