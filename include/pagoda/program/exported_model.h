#pragma once

#include <pagoda/params/layer.h>
#include <pagoda/params/parameter_table.h>
#include <pagoda/program/exported_program.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

namespace pagoda {

class ProgramCode;
struct ProgramForm;
struct ProgramPart;

/// A model exported from Python, to be trained like any other: a module whose parameters and
/// buffers have the names of Python's `state_dict`, with tied ones tied, and whose forward runs the
/// exported program on the device that the module is moved to.
///
/// Evaluation: after `eval()`, forward runs the same program with dropout and BatchNorm switched to
/// evaluation mode, or the second program of the file if there is one. For a model whose training
/// differs from evaluation in other ways (stochastic depth, spectral norm), only the second is
/// possible; without it, forward throws after `eval()`.
///
/// Threads: any number may call forward at once, as for other modules. Owns: its tensors; models
/// made from one ExportedProgram share the program, but not the weights.
/// Fails: as ExportedProgram. Forward: UsageError that names the input whose type or shape does not
/// fit the program, or says why it cannot be evaluated, or that it changes a tensor outside its
/// state; what an operator throws also names the operator and its module.
///
/// Example:
///     auto towers = make_towers(visible_devices(), [] { return ExportedModel("model.pt2"); });
///     SyncStep step(towers, Adam{.learning_rate = 1e-3});
///     for (auto feeds : batches(data, towers.size(), {.batch_size = 64}))
///       step.run(feeds, [](ExportedModel& model, const Batch& batch) {
///         return model(batch.input, batch.target)[0];  // its forward returns the loss first
///       });
class ExportedModelImpl : public torch::nn::Module {
 public:
  /// Reads a `.pt2` file.
  explicit ExportedModelImpl(const std::filesystem::path& file, const ProgramOptions& options = {});

  /// Copies the weights of a program; the file is not read again.
  explicit ExportedModelImpl(const ExportedProgram& program);

  /// The names of forward's inputs, in order.
  std::vector<std::string> input_names() const;
  /// The names of forward's results, in order.
  std::vector<std::string> output_names() const;

  /// Runs the program. `inputs` are the program's, in order: arguments that were not tensors at
  /// export have become constants, except whole numbers that may vary, which are passed as tensors
  /// with one element. Returns what forward returns in Python, flattened, with numbers as tensors
  /// and None as an undefined tensor.
  std::vector<at::Tensor> forward(const std::vector<at::Tensor>& inputs);

  /// The same, with the inputs as separate arguments.
  template <class... Tensors>
  std::vector<at::Tensor> forward(const at::Tensor& first, const Tensors&... others) {
    return forward(std::vector<at::Tensor>{first, others...});
  }

  /// The same, with the inputs by name. Fails: also UsageError for a missing or unknown name.
  std::vector<at::Tensor> forward_named(const std::map<std::string, at::Tensor>& inputs);

  /// The program's layers (ProgramOptions::cut_before), for a pipeline: the first takes what
  /// forward takes, and the last returns what forward returns. They refer to the model, which must
  /// outlive them.
  /// Fails: UsageError when two of them use the same parameter or buffer.
  std::vector<Layer> layers();

  /// Moves all tensors; from then on, devices named in the program mean this one.
  void to(torch::Device device, bool non_blocking = false) override;
  /// Always fails, with UsageError: a program computes in the types that it was exported with.
  void to(torch::Dtype type, bool non_blocking = false) override;
  /// Always fails, as the one before.
  void to(torch::Device device, torch::Dtype type, bool non_blocking = false) override;

 private:
  void register_state(const LoadedProgram& program);
  const ProgramForm& form() const;
  std::vector<at::Tensor> run(const ProgramPart& part, const std::vector<at::Tensor>& inputs,
                              torch::Device device) const;

  std::shared_ptr<const ProgramCode> code_;
  std::vector<at::Tensor> state_;       // as registered, in the program's order
  std::vector<NamedTensor> constants_;  // not in the state dict; programs must not change them
  torch::Device device_ = torch::kCPU;
};

/// Holds an ExportedModelImpl, as LibTorch's module holders do: copies share it.
class ExportedModel : public torch::nn::ModuleHolder<ExportedModelImpl> {
 public:
  using torch::nn::ModuleHolder<ExportedModelImpl>::ModuleHolder;
  using Impl = ExportedModelImpl;  ///< the name that LibTorch's holders use

  template <class... Inputs>
  std::vector<at::Tensor> operator()(const Inputs&... inputs) {
    return get()->forward(inputs...);
  }
};

}  // namespace pagoda
