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

/// A model that was made in Python, to be trained like any other: a module whose parameters and
/// buffers have the names of Python's `state_dict`, tied ones tied, and whose forward runs the
/// program, on the device that the module is moved to.
///
/// Evaluation: `eval()` turns dropout and BatchNorm over, or runs the second program of the file. A
/// model that does other things in training than its program's flags tell (stochastic depth, spectral
/// norm) can be evaluated in the second way only, and says so when it is asked to.
///
/// Threads: forward in any number of threads at once, as for other modules. Owns: its tensors; models
/// that were made of one ExportedProgram share the program, not the weights.
/// Fails: as ExportedProgram. Forward: UsageError that names the input whose type or shape the program
/// was not exported for, or that says why there is no evaluation; what an operator throws has
/// operator and module added.
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
  /// Reads a file.
  explicit ExportedModelImpl(const std::filesystem::path& file, const ProgramOptions& options = {});

  /// Costs a copy of the weights; the file is not read again.
  explicit ExportedModelImpl(const ExportedProgram& program);

  /// Of forward, in their order.
  std::vector<std::string> input_names() const;
  /// Of what forward gives, in its order.
  std::vector<std::string> output_names() const;

  /// The program's inputs in their order; those that were no tensors in Python have become
  /// constants. A whole number is given as a tensor of one. Returns what forward returned in Python,
  /// without its nesting; numbers as tensors, and None as an undefined one.
  std::vector<at::Tensor> forward(const std::vector<at::Tensor>& inputs);

  /// The same with the inputs one by one.
  template <class... Tensors>
  std::vector<at::Tensor> forward(const at::Tensor& first, const Tensors&... others) {
    return forward(std::vector<at::Tensor>{first, others...});
  }

  /// The same by name. Fails: UsageError for names that are missing or not the program's.
  std::vector<at::Tensor> forward_named(const std::map<std::string, at::Tensor>& inputs);

  /// The program's layers (ProgramOptions::cut_before), for stages: the first takes what forward
  /// takes, the last gives what forward gives.
  /// Fails: UsageError when two of them use the same parameter.
  std::vector<Layer> layers();

  /// Moves everything; devices that the program names become this one.
  void to(torch::Device device, bool non_blocking = false) override;
  /// Fails: UsageError; a program computes in the types that it was exported with.
  void to(torch::Dtype type, bool non_blocking = false) override;
  /// Fails: as the one before.
  void to(torch::Device device, torch::Dtype type, bool non_blocking = false) override;

 private:
  void register_state(const LoadedProgram& program);
  const ProgramForm& form() const;
  std::vector<at::Tensor> run(const ProgramPart& part, const std::vector<at::Tensor>& inputs,
                              torch::Device device) const;

  std::shared_ptr<const ProgramCode> code_;
  std::vector<at::Tensor> state_;       // as registered, in the program's order
  std::vector<NamedTensor> constants_;  // not in the state dict; never changed
  torch::Device device_ = torch::kCPU;
};

/// Holds an ExportedModelImpl, as modules are held in LibTorch: copies share it.
class ExportedModel : public torch::nn::ModuleHolder<ExportedModelImpl> {
 public:
  using torch::nn::ModuleHolder<ExportedModelImpl>::ModuleHolder;
  using Impl = ExportedModelImpl;  ///< as LibTorch's holders call it

  template <class... Inputs>
  std::vector<at::Tensor> operator()(const Inputs&... inputs) {
    return get()->forward(inputs...);
  }
};

}  // namespace pagoda
