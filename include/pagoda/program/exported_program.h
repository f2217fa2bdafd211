#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

namespace pagoda {

struct LoadedProgram;

/// What a program may do besides calling LibTorch's own operators.
struct ProgramOptions {
  /// Namespaces of further operators that it may call: what load_operator_library returned, or what
  /// your own program registers. Operators of others are refused, whoever has registered them.
  std::vector<std::string> operator_namespaces = {};
  /// Modules before whose first operator the program is cut into layers, in their order: for models
  /// in stages. None: it is one layer.
  std::vector<std::string> cut_before = {};
};

/// A model that was written in Python, as `torch.export.save` wrote it into a `.pt2` file: its graph
/// and its weights, checked and ready to run. Copies of it are ExportedModels.
///
/// The program must be what `torch.export.export` returned for the model in training mode, of torch
/// 2.9.1 or later. A file may have a second one for evaluation, under the name "evaluate", beside
/// the one for training, "train" (`torch.export.pt2_archive._package.package_pt2`).
///
/// The file may come from anywhere: every offset, size and checksum in it is checked, and pickles in
/// it are never opened. Only operators of LibTorch, but for those that reach files, and of the
/// namespaces that the options name can be called. A program that somebody crafted can still make
/// LibTorch's operators compute with arguments that nobody ever tried.
///
/// Threads: any; it does not change. Owns: its weights, in the memory the file was read into.
/// Fails: IoError when the file cannot be read; DataError that names it, when it is damaged or of
/// another format; UsageError that lists everything of it that cannot be run, by operator and module.
///
/// Example: `const ExportedProgram program("model.pt2");`
class ExportedProgram {
 public:
  explicit ExportedProgram(const std::filesystem::path& file, const ProgramOptions& options = {});

  /// Of forward, in their order.
  std::vector<std::string> input_names() const;

  /// By input: the sizes that it must have, with -1 where the program takes any. None for an input
  /// that is a number.
  std::vector<std::vector<std::int64_t>> input_sizes() const;

  /// The keys of a dict that forward returned, otherwise the names of values in the graph.
  std::vector<std::string> output_names() const;

  /// Whether these can be its inputs; see ExportedModel's forward. Fails: UsageError that names the
  /// input.
  void check_inputs(const std::vector<at::Tensor>& inputs) const;

  /// Why the program cannot be evaluated; empty where it can.
  std::string no_evaluation() const;

  /// For ExportedModel.
  const LoadedProgram& loaded() const { return *loaded_; }

 private:
  std::shared_ptr<const LoadedProgram> loaded_;
};

/// Loads a library that registers operators (with TORCH_LIBRARY), and returns their namespaces for
/// ProgramOptions. It stays loaded.
/// Fails: UsageError with the loader's reason when it cannot be loaded, or registers no operator.
std::vector<std::string> load_operator_library(const std::filesystem::path& file);

}  // namespace pagoda
