#pragma once

#include <pagoda/params/parameter_table.h>

#include <vector>

namespace torch::optim {
class Optimizer;
}

namespace pagoda {

/// Everything that the optimizer keeps, as bytes: what its own `save()` writes, with its class and
/// the names of the parameters in its groups, in one TorchScript archive.
/// docs/formats/checkpoint.md describes it. Fails: UsageError for a class whose `save()` writes
/// nothing or throws.
at::Tensor archive_of(const torch::optim::Optimizer& optimizer,
                      const std::vector<NamedTensor>& parameters);

/// Gives such bytes to the optimizer's own `load()`.
/// Fails: DataError that says why when the bytes are undefined or damaged, or were written by
/// another class, or for other parameters or groups; the optimizer is then unchanged. An error
/// from `load()` itself becomes a DataError too.
void load_archive(torch::optim::Optimizer& optimizer, const std::vector<NamedTensor>& parameters,
                  const at::Tensor& archive);

}  // namespace pagoda
